#pragma once

// What tests of the linear ops share.

#include "ops/registry.h"
#include "tests/support/on_device.h"

#include <string>
#include <vector>

namespace assay::test {

struct Sizes {
  std::int64_t m = 1, k = 64, n = 32;
  Shape batch = {};
  std::string dtype = {};  ///< of real x and y, where the op has that parameter; empty: its default
};

class LinearTest : public OnDeviceTest {
 protected:
  const Op& op_of(const std::string& name) const { return *ops.find(name); }

  /// Of any linear op; x and y, where it has them, of everyday size, and x's zero point is not 0.
  static Params params_of(const Op& op, const Sizes& sizes, std::int64_t group_size = 32);
  /// Every tensor in its first form.
  static Trial trial_of(const Op& op, const std::string& impl, const Sizes& sizes,
                        std::int64_t group_size = 32);
  static std::vector<Form> first_forms(const Op& op, const Params& params);

  /// A point drawn of all that there is for this op and impl: sizes up to `most`, forms, fills, tunables.
  static Trial random_trial(Draw& draw, const Op& op, const std::string& impl, const Sizes& most);

  /// Whether the impl takes such a point on the device at hand.
  bool can_run(const Trial& trial);
  /// Expects `count` random points to be right.
  void try_points(const Op& op, const std::string& impl, int count, const Sizes& most);
  /// As expect_right(), with a trace that tests/faults/seeded counts.
  void expect_right_here(const Trial& trial);

  /// Why the impl excludes the trial's point, or lacks something for it here; "" where it does neither.
  std::string refusal(const Trial& trial);

  /// The dispatch that multiplies.
  Dispatch product_of(const Trial& trial);

  const Registry ops = ops::registry();
};

/// The value of a #define; a test fails where there is none.
std::string define_of(const Dispatch& dispatch, std::string_view name);

}  // namespace assay::test
