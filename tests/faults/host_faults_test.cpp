#include "tests/faults/host_faults.h"

#include "harness/cases/conv2d_alias.h"
#include "harness/cases/expansion/load.h"
#include "harness/engine/run/row_program.h"
#include "ops/registry.h"
#include "tests/faults/bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fnmatch.h>
#include <iostream>

// Mistakes of the host that builds the programs of the tree's ops (host_faults.h), each put into every impl:
// the rows of cases/ see them. They need no hook in the product, since an impl is a function that returns a
// program.

namespace assay::faults {
namespace {

constexpr std::size_t most_rows = 24;  // that meet a mistake, cheapest first

/// A mistake that leaves the answers right.
struct Harmless {
  const char* impl;    // "OP/IMPL", a glob
  const char* fault;   // its name, a glob
  const char* reason;  // why no case can see it
};

constexpr const char* baked =
    "the numbers are specialization constants there, and nothing reads push constants";

constexpr Harmless harmless_faults[] = {
    {"conv2d_q8*csw/direct", "push constants one place too early", baked},
    {"q8ta_conv2d_pw/tile_*", "push constants one place too early", baked},
    {"q8ta_conv2d/general", "push constants one place too early", baked},
    {"q8ta_conv2d_transposed/general", "push constants one place too early", baked},
    {"q8ta_pixel_shuffle/fused", "a define flipped", "x is read word by word instead of in quads"},
};

/// The tree's ops and the accuracy rows of tiers smoke and ci as the default device runs them, cheapest
/// first.
class TreeRows {
 public:
  static const TreeRows& shared() {
    static const TreeRows rows;
    return rows;
  }

  std::vector<const Case*> of(const std::string& op, const std::string& impl) const {
    std::vector<const Case*> found;
    for (const Case* row : rows_) {
      if (row->op->name == op && row->impl->name == impl) found.push_back(row);
    }
    return found;
  }

  static const Registry& registry() {
    static const Registry registry = ops::registry();
    return registry;
  }

 private:
  TreeRows() : loaded_(load()), device_cases_(wanted(loaded_), Bench::shared().device().info()) {
    rows_.assign(device_cases_.all().begin(), device_cases_.all().end());
    std::ranges::stable_sort(rows_, {}, cost_of);
  }

  static std::vector<Case> load() {
    const std::filesystem::path folder[] = {ASSAY_SOURCE_DIR "/cases"};
    return load_cases(folder, registry()).cases;
  }

  static std::vector<const Case*> wanted(const std::vector<Case>& cases) {
    std::vector<const Case*> kept;
    for (const Case& row : cases) {
      if (row.mode != Mode::Perf && row.tier != Tier::Nightly && !row.own_op && !row.impl->choose)
        kept.push_back(&row);
    }
    return kept;
  }

  static std::int64_t cost_of(const Case* row) {
    return row->op->work ? row->op->work(row->params, row->tensors).operations : 0;
  }

  std::vector<Case> loaded_;
  DeviceCases device_cases_;
  std::vector<const Case*> rows_;
};

/// The row with the impl as if it were its own.
Case with_impl(const Case& row, const Impl& impl) {
  Case changed = row;
  changed.impl = &impl;
  changed.timeout_s = 20;
  return changed;
}

/// Whether the fault changes the program of a row that the device can run.
bool is_changed(const Case& row, const Impl& wrong) try {
  if (row.invalid) return false;
  const DeviceInfo& device = Bench::shared().device().info();
  const RowProgram right = row_program(row, device);
  if (!right.program || right.unsupported) return false;
  const RowProgram other = row_program(with_impl(row, wrong), device);
  return !(other.program && *other.program == *right.program);
} catch (const std::exception&) {
  return true;  // refused by a rule: a fault that is seen
}

struct Seen {
  std::size_t tried = 0;
  bool failed = false;
};

Seen rows_that_see(const std::vector<const Case*>& rows, const Impl& wrong) {
  Seen seen;
  for (const Case* row : rows) {
    if (seen.failed || seen.tried >= most_rows) break;
    if (!is_changed(*row, wrong)) continue;
    ++seen.tried;
    // Other ends than FAIL, such as a timeout on a busy machine, are no answer of the row's.
    seen.failed = Bench::shared().run(with_impl(*row, wrong)).status == Status::Fail;
  }
  return seen;
}

const Harmless* harmless(const std::string& impl, const std::string& fault) {
  for (const Harmless& known : harmless_faults) {
    if (::fnmatch(known.impl, impl.c_str(), 0) == 0 && ::fnmatch(known.fault, fault.c_str(), 0) == 0)
      return &known;
  }
  return nullptr;
}

class HostFaults : public testing::TestWithParam<std::string> {};

void expect_seen(const Op& op, const Impl& impl, const std::vector<const Case*>& rows,
                 const HostFault& fault) {
  const std::string what = op.name + "/" + impl.name + ": " + fault.name;
  const Seen seen = rows_that_see(rows, with_host_fault(impl, fault));
  if (seen.tried == 0) return;  // no row has, say, two inputs of one type
  if (const Harmless* known = harmless(op.name + "/" + impl.name, fault.name)) {
    EXPECT_FALSE(seen.failed) << what << " is seen, although " << known->reason;
  } else {
    EXPECT_TRUE(seen.failed) << what << " is seen by none of " << seen.tried << " rows";
  }
}

TEST_P(HostFaults, AreSeenByRows) {
  const Op& op = *TreeRows::registry().find(GetParam());
  for (const Impl& impl : op.impls) {
    if (impl.choose) continue;
    const std::vector<const Case*> rows = TreeRows::shared().of(op.name, impl.name);
    EXPECT_FALSE(rows.empty()) << impl.name;
    for (const HostFault& fault : host_faults()) expect_seen(op, impl, rows, fault);
  }
}

/// Whether the mistake can be made in a row of some op.
bool is_made_somewhere(const HostFault& fault) {
  for (const Op& op : TreeRows::registry().ops()) {
    for (const Impl& impl : op.impls) {
      if (impl.choose) continue;
      const Impl wrong = with_host_fault(impl, fault);
      const auto rows = TreeRows::shared().of(op.name, impl.name);
      if (std::ranges::any_of(rows, [&](const Case* row) { return is_changed(*row, wrong); })) return true;
    }
  }
  return false;
}

TEST(HostFaultKinds, AreEachMadeSomewhere) {
  for (const HostFault& fault : host_faults()) EXPECT_TRUE(is_made_somewhere(fault)) << fault.name;
}

TEST(HostFaultKinds, OfTheListOfHarmlessOnesExist) {
  for (const Harmless& known : harmless_faults) {
    const auto matches = [](const char* pattern, const std::string& text) {
      return ::fnmatch(pattern, text.c_str(), 0) == 0;
    };
    EXPECT_TRUE(std::ranges::any_of(host_faults(), [&](const HostFault& fault) {
      return matches(known.fault, fault.name);
    })) << known.fault;
    bool has_impl = false;
    for (const Op& op : TreeRows::registry().ops()) {
      for (const Impl& impl : op.impls) has_impl = has_impl || matches(known.impl, op.name + "/" + impl.name);
    }
    EXPECT_TRUE(has_impl) << known.impl;
  }
}

std::vector<std::string> names_of_ops() {
  std::vector<std::string> names;
  for (const Op& op : TreeRows::registry().ops()) names.push_back(op.name);
  return names;
}

/// One op of each way to build programs, as the others share their code. With --gtest_also_run_disabled_tests
/// all ops take two minutes.
const std::string families[] = {"choose_qparams_per_row",
                                "conv2d_q8csw",
                                "embedding_q4gsw",
                                "linear_qta8a_qga4w",
                                "permute",
                                "q8ta_add",
                                "q8ta_clone",
                                "q8ta_conv2d_dw",
                                "q8ta_conv2d_transposed",
                                "q8ta_linear",
                                "q8ta_pixel_shuffle",
                                "quantize_affine"};

INSTANTIATE_TEST_SUITE_P(Of, HostFaults, testing::ValuesIn(families),
                         [](const auto& tested) { return tested.param; });
INSTANTIATE_TEST_SUITE_P(DISABLED_OfAll, HostFaults, testing::ValuesIn(names_of_ops()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace assay::faults
