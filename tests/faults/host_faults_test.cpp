#include "tests/faults/host_faults.h"

#include "harness/cases/conv2d_alias.h"
#include "harness/cases/expansion/load.h"
#include "harness/engine/run/row_plan.h"
#include "ops/registry.h"
#include "tests/faults/bench.h"
#include "tests/faults/fault_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fnmatch.h>
#include <functional>
#include <iostream>
#include <stdexcept>

namespace assay::faults {

// Mistakes of the host that builds the programs of the tree's ops (host_faults.h), each put into every impl:
// the rows of cases/ see them. They need no hook in the product, since an impl is a function that returns a
// program.

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

// Bugs of the host that linear layers have had: the programs of the real ops with one thing wrong. Bugs of
// their kernels are in seeded/faults.yaml; README.md says which fault is which bug.

using ::testing::ContainsRegex;

using LinearDamage = std::function<void(Program&)>;

/// The op with one impl, whose program is damaged. An op is kept by the caller, as cases refer to it.
Op damaged(const std::string& name, const std::string& impl, const LinearDamage& damage) {
  static const Registry registry = ops::registry();
  const Op* real = registry.find(name);
  if (real == nullptr) throw std::logic_error("there is no op " + name);
  Op op = *real;
  Impl wrong = *real->find_impl(impl);
  wrong.build = [build = wrong.build, damage](const BuildContext& context) {
    Program program = build(context);
    damage(program);
    return program;
  };
  op.impls = {std::move(wrong)};
  return op;
}

Params params_of(const Op& op, std::int64_t m, std::int64_t k, const Params& own) {
  Params params = own;
  params.set("M", m);
  params.set("K", k);
  params.set("N", std::int64_t{20});
  for (const ParamSpec& spec : op.params) {
    if (!params.has(spec.name)) params.set(spec.name, spec.default_for(params).value());
  }
  return params;
}

Dispatch& dispatch_of(Program& program, const std::string& shader) {
  const auto found = std::ranges::find(program.dispatches, shader, &Dispatch::shader);
  if (found == program.dispatches.end()) throw std::logic_error("no dispatch of " + shader);
  return *found;
}

Scratch& scratch_of(Program& program, const std::string& name) {
  const auto found = std::ranges::find(program.scratch, name, &Scratch::name);
  if (found == program.scratch.end()) throw std::logic_error("no scratch " + name);
  return *found;
}

LinearDamage with_define(const std::string& shader, const std::string& name, const std::string& value) {
  return [=](Program& program) {
    for (Define& define : dispatch_of(program, shader).defines) {
      if (define.name == name) define.value = value;
    }
  };
}

Record run(const Op& op, std::int64_t m, std::int64_t k, const Params& own = {}, Mode mode = Mode::Accu) {
  return Bench::shared().run(fault_case(op, op.impls.front().name, params_of(op, m, k, own)), mode);
}

void expect_wrong(const Op& op, const std::string& metric, const std::string& reason,
                  const Params& own = {}) {
  for (const Mode mode : {Mode::Accu, Mode::Perf}) {
    const Record record = run(op, 5, 64, own, mode);
    EXPECT_EQ(record.status, Status::Fail) << record.reason;
    ASSERT_TRUE(record.accuracy.has_value()) << record.reason;
    EXPECT_EQ(record.accuracy->metric, metric);
    EXPECT_THAT(record.reason, ContainsRegex(reason));
    EXPECT_FALSE(record.perf.has_value());
  }
}

Params set(const std::string& name, const Value& value) {
  Params params;
  params.set(name, value);
  return params;
}

TEST(LinearFault, NoneIsRight) {
  const Op op = damaged("linear_dq8ca_q4gsw", "tiled", [](Program&) {});
  EXPECT_EQ(run(op, 5, 64).status, Status::Pass);
  EXPECT_EQ(run(op, 40, 64).status, Status::Pass);
}

// Half of K places for a scale each: enough as long as M is no more.
TEST(LinearFault, ScratchSizedByKIsWrittenPastItsEndWhereMIsMore) {
  const Op op = damaged("linear_dq8ca_q4gsw", "tiled",
                        [](Program& program) { scratch_of(program, "x_scale").shape = {64 / 2}; });
  EXPECT_EQ(run(op, 32, 64).status, Status::Pass) << "as others saw it";
  const Record record = run(op, 40, 64);
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_EQ(record.accuracy->metric, "write_out_of_bounds");
  EXPECT_THAT(record.reason,
              ContainsRegex("'scratch x_scale' was written past its end: (29|30|31|32) bytes"));
}

TEST(LinearFault, AReluThatIsNotPassedOnIsSeen) {
  const Op op = damaged("linear_q8csw", "gemv", with_define("linear_gemv.comp", "ACTIVATION", "0"));
  EXPECT_EQ(run(op, 5, 64).status, Status::Pass) << "without a relu";
  expect_wrong(op, "wrong_value", "^y\\[.*expected 0 by the reference, got -",
               set("activation", std::string("relu")));
}

TEST(LinearFault, TheOtherOrderOfNibblesIsSeen) {
  const Op op = damaged("linear_q4gsw", "gemv", with_define("linear_pack.comp", "HIGH_FIRST", "1"));
  expect_wrong(op, "wrong_value", "^y\\[0, 0\\]");
}

// A workgroup computes four rows of these channels.
TEST(LinearFault, RowsThatAreNotComputedAreUnwritten) {
  const Op op = damaged("linear_q8csw", "gemv", [](Program& program) {
    dispatch_of(program, "linear_gemv.comp").workgroups = {1, 1, 1};
  });
  expect_wrong(op, "unwritten", "elements of 'y' were never written, first y\\[4, 0\\]");
}

TEST(LinearFault, AKernelThatIsNotDispatchedIsSeen) {
  const Op op = damaged("linear_q8csw", "tiled", [](Program& program) { program.dispatches.pop_back(); });
  expect_wrong(op, "unwritten", "100 of 100 elements of 'y' were never written");
}

TEST(LinearFault, WeightsThatAreNotPackedAreSeen) {
  const Op op = damaged("linear_q8csw", "tiled", [](Program& program) {
    program.dispatches.erase(program.dispatches.begin());
    program.unchecked_because = seen_when_run;
  });
  expect_wrong(op, "depends_on_old_output", "depends on what outputs or scratch held before: 100 of 100");
}

TEST(LinearFault, AVariantThatIsMissingFailsByItsName) {
  const Op op = damaged("linear_q8csw", "gemv", [](Program& program) {
    dispatch_of(program, "linear_gemv.comp").shader = "linear_gemv_f16.comp";
  });
  for (const Mode mode : {Mode::Accu, Mode::Perf}) {
    const Record record = run(op, 5, 64, {}, mode);
    EXPECT_EQ(record.status, Status::Fail);
    EXPECT_THAT(record.reason, ContainsRegex("linear_gemv_f16.comp"));
    EXPECT_FALSE(record.accuracy || record.perf);
  }
}

}  // namespace

}  // namespace assay::faults
