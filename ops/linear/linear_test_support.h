#pragma once

// Parameters and trials that the tests of the linear ops share.

#include "harness/cases/describe/reachable_programs.h"
#include "ops/registry.h"
#include "tests/support/on_device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::test {

struct Sizes {
  std::int64_t m = 1, k = 64, n = 32;
  Shape batch = {};
  std::string dtype = {};  ///< dtype of real x and y, where the op has that parameter; empty: its default
};

class LinearTest : public OnDeviceTest {
 protected:
  const Op& op_of(const std::string& name) const { return *ops.find(name); }

  /// Parameters of any linear op. The qparams of x and y, where it has them, are typical, and x's zero point
  /// is not 0.
  static Params params_of(const Op& op, const Sizes& sizes, std::int64_t group_size = 32);
  /// A trial with every tensor in its first form.
  static Trial trial_of(const Op& op, const std::string& impl, const Sizes& sizes,
                        std::int64_t group_size = 32);
  static std::vector<Form> first_forms(const Op& op, const Params& params);

  /// A random point of this op and impl: sizes up to `most`, any forms, fills and tunables.
  static Trial random_trial(Draw& draw, const Op& op, const std::string& impl, const Sizes& most);

  /// Whether the impl takes the trial's point on the device at hand.
  bool can_run(const Trial& trial);
  /// Expects `count` random points to be right.
  void try_points(const Op& op, const std::string& impl, int count, const Sizes& most);
  /// Calls expect_right() with a trace that tests/faults/seeded counts.
  void expect_right_here(const Trial& trial);

  /// Why the impl excludes the trial's point, or what is missing for it on this device; "" where it can run.
  std::string refusal(const Trial& trial);

  /// The dispatch of the trial's program that multiplies.
  Dispatch product_of(const Trial& trial);

  const Registry ops = ops::registry();
};

/// Devices of vendors that nothing was run on, as their drivers list matrices (from sources and reports).
enum class Vendor : std::uint8_t { Amd, IntelDg2, IntelXe2, Qualcomm, Lavapipe };
DeviceInfo device_of_vendor(Vendor vendor);

/// With matrices and 132 shader cores.
DeviceInfo h200();

/// Impl `coopmat` of products whose weights go from memory to registers.
class PlacedOperandsTest : public LinearTest {
 protected:
  /// `operands`: the tunable that all trials have.
  explicit PlacedOperandsTest(std::int64_t operands) : operands_(operands) {}

  /// f16, where the op has that parameter.
  Trial trial(const std::string& op, const Sizes& sizes, Tune tune = {}, std::int64_t group_size = 32);
  std::string refusal_on(const DeviceInfo& device, Trial made);
  /// The shader on a device without the tunable `operands`.
  std::string default_shader_on(const DeviceInfo& device, const std::string& op, const Sizes& sizes,
                                Tune tune = {}, std::int64_t group_size = 128);
  double unit_error_on(const DeviceInfo& device, const Trial& made);

  DeviceInfo cpu = contrasting_devices().at(3);
  DeviceInfo nvidia = h200();  ///< with matrices and 132 shader cores
  const std::string in_slabs = "linear_coopmat.comp", in_registers = "linear_decode.comp",
                    weights_in_registers = "linear_prefill.comp";

 private:
  std::int64_t operands_;
};

/// The value of a #define; a test fails where there is none.
std::string define_of(const Dispatch& dispatch, std::string_view name);

}  // namespace assay::test
