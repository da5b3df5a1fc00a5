#include "harness/base/error.h"
#include "harness/cases/describe/reachable_programs.h"
#include "ops/cases_of_op_test_support.h"
#include "ops/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

// The rule: accuracy rows use, for every tunable of every impl, the ends of its range and a value between,
// where these change a program. A value that no row uses is an untested path of a kernel.

namespace assay::ops {
namespace {

using namespace test;

/// A value that rows should use, or a range from which they should use one.
struct Wanted {
  std::int64_t from, to;

  bool holds(std::int64_t value) const { return from <= value && value <= to; }
  std::string text() const {
    return from == to ? std::to_string(from) : std::to_string(from) + " to " + std::to_string(to);
  }
};

std::vector<Wanted> wanted_of(const Tunable& tunable) {
  if (!tunable.allowed.empty()) {
    const std::vector<std::int64_t>& all = tunable.allowed;
    std::vector<Wanted> some;
    for (const std::int64_t value : {all.front(), all[all.size() / 2], all.back()}) {
      some.push_back({value, value});
    }
    return some;
  }
  std::vector<Wanted> some{{tunable.min, tunable.min}, {tunable.max, tunable.max}};
  if (tunable.max - tunable.min > 1) some.push_back({tunable.min + 1, tunable.max - 1});
  return some;
}

/// The parameter: an op's name.
class Tunables : public testing::TestWithParam<std::string> {
 protected:
  std::optional<Program> program_of(const Case& test_case, const Tune& tune, const DeviceInfo& device) const {
    const ImplPoint point{test_case.params, test_case.tensors, test_case.forms, tune};
    if (test_case.impl->invalid_reason && test_case.impl->invalid_reason(point)) return std::nullopt;
    const BuildContext context(point, device);
    if (missing_for(*test_case.impl, context)) return std::nullopt;
    try {
      return test_case.impl->build(context);
    } catch (const Error&) {
      return std::nullopt;  // no grid for this many workgroups
    }
  }

  /// Whether the case has another program with this value than without it.
  bool changes(const Case& test_case, const std::string& name, std::int64_t value) const {
    Tune with = test_case.tune, without = test_case.tune;
    with[name] = value;
    without.erase(name);
    return std::ranges::any_of(devices_, [&](const DeviceInfo& device) {
      const std::optional<Program> program = program_of(test_case, with, device);
      return program && program != program_of(test_case, without, device);
    });
  }

  bool is_taken(const Impl& impl, const std::string& name, const Wanted& wanted) const {
    return std::ranges::any_of(cases_, [&](const Case& test_case) {
      const auto tuned = test_case.tune.find(name);
      return test_case.impl == &impl && tuned != test_case.tune.end() && wanted.holds(tuned->second) &&
             changes(test_case, name, tuned->second);
    });
  }

  /// A case whose program the value would change.
  const Case* changed_by(const Impl& impl, const std::string& name, const Wanted& wanted) const {
    const auto found = std::ranges::find_if(cases_, [&](const Case& test_case) {
      return test_case.impl == &impl && (changes(test_case, name, wanted.from) ||
                                         changes(test_case, name, (wanted.from + wanted.to) / 2));
    });
    return found == cases_.end() ? nullptr : &*found;
  }

  const Registry ops_ = registry();
  const Op& op_ = *ops_.find(GetParam());
  const std::vector<Case> cases_ = accuracy_cases_of(ops_, op_);
  /// With every feature: a GPU and a CPU.
  const std::vector<DeviceInfo> devices_ = {contrasting_devices().at(1), contrasting_devices().at(4)};
};

TEST_P(Tunables, TakeTheEndsOfTheirRangeAndSomethingBetween) {
  for (const Impl& impl : op_.impls) {
    for (const Tunable& tunable : impl.tunables) {
      for (const Wanted& wanted : wanted_of(tunable)) {
        if (is_taken(impl, tunable.name, wanted)) continue;
        const Case* changed = changed_by(impl, tunable.name, wanted);
        EXPECT_EQ(changed, nullptr) << op_.name << "/" << impl.name << ": no accuracy row is tuned by "
                                    << tunable.name << ": " << wanted.text()
                                    << ", which changes the program of " << changed->id
                                    << ", say: add it to the `tune` of a case in cases/" << op_.name
                                    << ".yaml";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfOp, Tunables, testing::ValuesIn(test::names_of_ops()),
                         [](const auto& of_op) { return of_op.param; });

}  // namespace
}  // namespace assay::ops
