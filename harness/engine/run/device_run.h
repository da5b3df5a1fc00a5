#pragma once

#include "harness/cases/expectations/expectations.h"
#include "harness/engine/run/device_context.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/timing/sampler.h"
#include "harness/gpu/gpu.h"
#include "harness/report/record/rows_to_run.h"
#include "harness/report/record/run_listener.h"

#include <cstddef>
#include <span>
#include <string>

namespace assay {

/// Estimates how long the timing of rows takes, from the rows timed before.
class TimingEstimate {
 public:
  /// `more_s`: what a row takes besides.
  explicit TimingEstimate(const SamplingOptions& options, double more_s = 0)
      : first_guess_s_(guess_s(options) + more_s) {}

  /// Records that `rows` rows were timed together in `wall_s` seconds.
  void note(std::size_t rows, double wall_s);
  /// Estimated wall time for this many rows.
  double seconds(std::size_t rows) const;

 private:
  /// The guess for a row when no row was timed yet: samples, heating before each block, memory and extra
  /// passes.
  static double guess_s(const SamplingOptions& options) { return 1.5 * options.budget_s + 0.3; }

  double first_guess_s_;
  std::size_t rows_ = 0;
  double wall_s_ = 0;
};

/// Runs the rows in `left` on one device, group after group, and reports each to `listener` from its begin to
/// its end. Events number the rows in the order of `groups`, which must be that of the plan. No events are
/// sent for other rows. An error of a row becomes its status; only a failure to record (unwritable output) is
/// thrown. After the device is lost, a dump cannot be written or a stop is requested, the remaining rows end
/// as MISSING; a row that a stop interrupts is INTERRUPTED. Returns why a dump could not be written, for
/// which no row is to blame; empty if none failed.
[[nodiscard]] std::string run_on_device(gpu::Device& device, gpu::ShaderLibrary& shaders,
                                        std::span<const PlannedGroup> groups, const RowsLeft& left,
                                        const Expectations& expectations, const DeviceRunOptions& options,
                                        RunListener& listener);

}  // namespace assay
