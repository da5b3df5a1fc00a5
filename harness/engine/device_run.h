#pragma once

#include "harness/cases/expectations.h"
#include "harness/engine/planned_rows.h"
#include "harness/engine/sampler.h"
#include "harness/engine/timing_tools.h"
#include "harness/gpu/gpu.h"
#include "harness/report/events.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace assay {

/// The other version of the shaders (--versus-shaders).
struct VersusShaders {
  gpu::ShaderLibrary* library = nullptr;
  std::string repro_options;  ///< what a repro line of its rows must repeat
};

struct DeviceRunOptions {
  std::optional<Mode> mode;                   ///< Accu or Perf only; empty: what each case says
  std::optional<std::filesystem::path> dump;  ///< --dump
  std::string repro_options;                  ///< what a repro line must repeat
  RowNames names;                             ///< how rows are called; the plan must use the same
  std::optional<VersusShaders> versus;        ///< for the planned rows that are of the other version
  std::string baseline_impl;                  ///< --baseline-impl: whose rows the others are compared with
  SamplingOptions sampling;
  double handicap_pct = 0;       ///< --handicap: every timed program gets so much more work
  TimingTools* tools = nullptr;  ///< of this device; null: made when a row is first timed, without ceilings
  std::function<std::int64_t()> validation_messages;  ///< of the instance, so far; empty: not counted
  std::function<std::string()> newest_validation_message;
};

/// Runs all rows on one device, group after group, and tells `listener` of each begin and record. What goes
/// wrong with a row becomes its status; only a failure to record (unwritable output) is thrown. After a lost
/// device the rows that are left are recorded as MISSING.
void run_on_device(gpu::Device& device, gpu::ShaderLibrary& shaders, std::span<const PlannedGroup> groups,
                   const Expectations& expectations, const DeviceRunOptions& options, RunListener& listener);

}  // namespace assay
