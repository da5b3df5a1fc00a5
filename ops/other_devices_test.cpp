#include "harness/base/error.h"
#include "ops/cases_of_op_test_support.h"
#include "ops/registry.h"
#include "tests/support/drawn.h"
#include "tests/support/on_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

// Runs impls as if on another device: a program that they build for a device without a feature, or with a
// lower limit on workgroups, also runs on the device at hand. Rows of the accuracy cases whose program
// differs there are compared with their reference. Nothing is listed by op: a new one is covered by its own
// cases. Each trial costs a compilation: scripts/test.sh draws a quarter of them by the commit.

namespace assay::ops {
namespace {

using namespace test;

constexpr std::int64_t most_elements_here = 1 << 13;  // elements of a case that is run here
constexpr std::size_t most_of_a_kind = 2;             // trials of programs of one kind
constexpr std::size_t most_of_a_device = 16;
constexpr std::size_t least_of_a_shader = 2;  // trials of its folded grid

struct OtherDevice {
  std::string name;
  std::function<void(DeviceInfo&)> change;
};

void lack(DeviceInfo& device, std::initializer_list<Feature> features) {
  for (const Feature feature : features) std::erase(device.features, feature);
}

std::vector<OtherDevice> other_devices() {
  return {
      {"no shader can demand how sums are rounded",
       [](DeviceInfo& device) { lack(device, {Feature::RoundsToEven32}); }},
      {"there are no subgroups",
       [](DeviceInfo& device) {
         lack(device, {Feature::SubgroupArithmetic, Feature::SubgroupShuffle, Feature::SubgroupSizeControl,
                       Feature::FullSubgroups});
         device.subgroup_size = device.min_subgroup_size = device.max_subgroup_size = 1;
         device.max_workgroup_subgroups = 0;
       }},
      {"no full subgroups can be demanded",
       [](DeviceInfo& device) {
         lack(device, {Feature::SubgroupSizeControl, Feature::FullSubgroups});
       }},
      {"subgroups have several sizes",
       [](DeviceInfo& device) { device.min_subgroup_size = std::max(device.subgroup_size / 2, 1U); }},
      {"subgroups have several sizes, none to be demanded",
       [](DeviceInfo& device) {
         device.min_subgroup_size = std::max(device.subgroup_size / 2, 1U);
         lack(device, {Feature::SubgroupSizeControl, Feature::FullSubgroups});
       }},
      {"the device is a CPU, or is none",
       [](DeviceInfo& device) { device.type = device.is_cpu() ? "discrete" : "cpu"; }},
  };
}

/// Makes workgroups one invocation large, so that small tensors have many of them, with room only for short
/// rows.
void make_workgroups_small(DeviceInfo& device) {
  device.max_shared_bytes = 256;
  device.max_workgroup_size = {1, 1, 1};
  device.max_workgroup_invocations = 1;
}

void leave_workgroups(DeviceInfo&) {}

/// A device with such workgroups, of which a row of a grid holds 7.
struct Workgroups {
  std::string name;
  std::function<void(DeviceInfo&)> change;

  std::function<void(DeviceInfo&)> folded() const {
    return [change = change](DeviceInfo& device) {
      change(device);
      device.max_workgroup_count[0] = 7;
    };
  }
};

/// The limits of workgroups to try; the first suits impls that can run with so few invocations.
const std::vector<Workgroups>& workgroups_to_fold() {
  static const std::vector<Workgroups> all{{"a row of a grid holds 7 workgroups of 1", make_workgroups_small},
                                           {"a row of a grid holds 7 workgroups", leave_workgroups}};
  return all;
}

/// The kind of a program for a test of features: the variants of its shaders.
std::string kind_of(const Case& test_case, const Program& program) {
  std::string text = test_case.impl->name;
  for (const Dispatch& dispatch : program.dispatches) {
    text += ' ' + dispatch.shader;
    for (const Define& define : dispatch.defines) text += ' ' + define.value;
  }
  return text;
}

/// A few of them, spread from the first to the last.
template <class T>
std::vector<T> spread(const std::vector<T>& all, std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<T> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * (all.size() - 1) / (most - 1)]);
  return some;
}

bool is_small(const Case& test_case) {
  return std::ranges::all_of(
      test_case.tensors, [](const TensorSpec& tensor) { return numel(tensor.shape) <= most_elements_here; });
}

/// The failed trials of this process. A test of faults (tests/faults/seeded) sets in the environment how many
/// it needs: further trials would show nothing more, and each costs a compilation.
class FailedTrials {
 public:
  static bool are_enough() {
    static const char* const needed = std::getenv("ASSAY_TEST_ENOUGH_FAILED_TRIALS");
    return needed != nullptr && count() >= std::stoul(needed);
  }

  /// Runs a trial and counts it if anything in it failed.
  template <class Trial>
  static void count_if_failed(const Trial& trial) {
    const auto& result = *testing::UnitTest::GetInstance()->current_test_info()->result();
    const int before = result.total_part_count();
    trial();
    count() += result.total_part_count() > before ? 1 : 0;
  }

 private:
  static std::size_t& count() {
    static std::size_t failed = 0;
    return failed;
  }
};

/// The parameter: an op's name.
class OtherDevices : public OnDeviceTest, public testing::WithParamInterface<std::string> {
 protected:
  using Change = std::function<void(DeviceInfo&)>;

  /// The program that the case's impl builds there, or nothing where something is missing or no grid is large
  /// enough.
  std::optional<Program> program_for(const Case& test_case, const Change& change) {
    DeviceInfo info = device().info();
    if (change) change(info);
    const BuildContext context(test_case.params, test_case.tensors, test_case.forms, info, test_case.tune);
    if (missing_for(*test_case.impl, context)) return std::nullopt;
    try {
      return test_case.impl->build(context);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  /// The workgroups with which the case's grid is folded, or null.
  const Workgroups* foldable(const Case& test_case) {
    for (const Workgroups& workgroups : workgroups_to_fold()) {
      if (program_for(test_case, workgroups.folded())) return &workgroups;
    }
    return nullptr;
  }

  bool can_run(const Case& test_case, const Program& program) {
    return !gpu::unsupported(program, physical_tensors(test_case), test_case.impl->needs, device().info(),
                             gpu::guard_bytes);
  }

  void expect_right_as_if(const Case& test_case, const std::string& name, const Change& change) {
    if (FailedTrials::are_enough() || !drawn(name + test_case.id, 4)) return;
    const Trial trial{.op = test_case.op,
                      .params = test_case.params,
                      .forms = test_case.forms,
                      .fills = test_case.fills,
                      .tune = test_case.tune,
                      .impl = test_case.impl->name,
                      .as_if = change};
    SCOPED_TRACE("as if " + name + ": " + test_case.id);
    FailedTrials::count_if_failed([&] { expect_right(trial); });
  }

  /// A few small cases of every kind whose program differs there.
  std::vector<const Case*> changed_by(const OtherDevice& other) {
    std::map<std::string, std::vector<const Case*>> kinds;
    for (const Case& test_case : cases) {
      if (!is_small(test_case)) continue;
      const std::optional<Program> program = program_for(test_case, other.change);
      if (!program || program == program_for(test_case, {}) || !can_run(test_case, *program)) continue;
      kinds[kind_of(test_case, *program)].push_back(&test_case);
    }
    std::vector<const Case*> some;
    for (const auto& [kind, cases] : kinds) {
      for (const Case* test_case : spread(cases, most_of_a_kind)) some.push_back(test_case);
    }
    return spread(some, most_of_a_device);
  }

  const Registry ops = registry();
  const Op& op = *ops.find(GetParam());
  const std::vector<Case> cases = accuracy_cases_of(ops, op);
};

TEST_P(OtherDevices, AreServedRightToo) {
  std::vector<Program> run;  // on one of them: no need to run it again
  for (const OtherDevice& other : other_devices()) {
    for (const Case* test_case : changed_by(other)) {
      Program program = *program_for(*test_case, other.change);
      if (std::ranges::find(run, program) != run.end()) continue;
      run.push_back(std::move(program));
      expect_right_as_if(*test_case, other.name, other.change);
    }
  }
}

/// A dispatch whose grid of one row is folded as if a row held only 7 workgroups.
struct Folded {
  std::string name;       ///< its shader and its impl, except for set-up, which all impls share
  std::string whole;      ///< its defines about whole vectors, on which the handling of the end depends
  bool unevenly = false;  ///< with workgroups past the end
};

std::vector<Folded> folded_dispatches(const Impl& impl, const Program& in_a_row, const Program& folded) {
  std::vector<Folded> found;
  for (std::size_t i = 0; i < folded.dispatches.size(); ++i) {
    const Dispatch& dispatch = folded.dispatches[i];
    const auto& before = in_a_row.dispatches[i].workgroups;
    const auto& after = dispatch.workgroups;
    if (before[1] > 1 || after[1] == 1) continue;
    std::string whole;
    for (const Define& define : dispatch.defines) {
      if (define.name.find("WHOLE") != std::string::npos) whole += ' ' + define.name + '=' + define.value;
    }
    const bool is_setup = dispatch.role == DispatchRole::Setup;
    found.push_back(
        {dispatch.shader + (is_setup ? "" : " of " + impl.name), whole, after[0] * after[1] > before[0]});
  }
  return found;
}

TEST_P(OtherDevices, FoldTheirGridsAt7Workgroups) {
  std::map<std::string, std::size_t>
      trials;  // trials of each shader and impl; 0 where no small case folds it unevenly
  std::map<std::string, std::vector<const Case*>> kinds;
  for (const Case& test_case : cases) {
    const Workgroups* workgroups = foldable(test_case);
    if (workgroups == nullptr) continue;
    const std::optional<Program> in_a_row = program_for(test_case, workgroups->change);
    const std::optional<Program> folded = program_for(test_case, workgroups->folded());
    if (!in_a_row || !folded) continue;
    const bool runs = is_small(test_case) && can_run(test_case, *folded);
    for (const Folded& dispatch : folded_dispatches(*test_case.impl, *in_a_row, *folded)) {
      const bool tried = runs && dispatch.unevenly;
      trials[dispatch.name] += tried ? 1 : 0;
      if (tried) kinds[dispatch.name + dispatch.whole].push_back(&test_case);
    }
  }
  EXPECT_FALSE(trials.empty()) << op.name << " has no case whose grid is folded";
  for (const auto& [name, count] : trials) {
    EXPECT_GE(count, least_of_a_shader)
        << "cases/" << op.name << ".yaml has too few small accuracy rows in which " << name
        << " needs more than 7 workgroups (of one invocation, if it can do with so few) and is folded with "
           "workgroups past the end";
  }
  std::set<const Case*> chosen;
  for (const auto& [kind, cases] : kinds) {
    for (const Case* test_case : spread(cases, most_of_a_kind)) chosen.insert(test_case);
  }
  for (const Case* test_case : chosen) {
    const Workgroups& workgroups = *foldable(*test_case);
    expect_right_as_if(*test_case, workgroups.name, workgroups.folded());
  }
}

INSTANTIATE_TEST_SUITE_P(OfOp, OtherDevices, testing::ValuesIn(test::names_of_ops()),
                         [](const auto& of_op) { return of_op.param; });

}  // namespace
}  // namespace assay::ops
