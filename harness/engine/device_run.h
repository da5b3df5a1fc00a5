#pragma once

#include "harness/cases/expectations.h"
#include "harness/cases/select.h"
#include "harness/engine/sampler.h"
#include "harness/gpu/gpu.h"
#include "harness/report/events.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace assay {

struct DeviceRunOptions {
  std::optional<Mode> mode;                   ///< Accu or Perf only; empty: what each case says
  std::optional<std::filesystem::path> dump;  ///< --dump
  std::string repro_options;                  ///< what a repro line must repeat
  SamplingOptions sampling;
  std::function<std::int64_t()> validation_messages;  ///< of the instance, so far; empty: not counted
  std::function<std::string()> newest_validation_message;
};

/// The rows that a run of `cases` has: a case of mode both is two, accuracy first; a group's rows stand
/// together.
struct PlannedRow {
  const Case* one = nullptr;
  Mode mode = Mode::Accu;
};
using PlannedGroup = std::vector<PlannedRow>;
std::vector<PlannedGroup> plan_rows(std::span<const Case* const> cases, std::optional<Mode> mode);

/// Runs all rows on one device, group after group, and tells `listener` of each begin and record. What goes
/// wrong with a row becomes its status; only a failure to record (unwritable output) is thrown. After a lost
/// device the rows that are left are recorded as MISSING.
void run_on_device(gpu::Device& device, gpu::ShaderLibrary& shaders, std::span<const PlannedGroup> groups,
                   const Expectations& expectations, const DeviceRunOptions& options, RunListener& listener);

}  // namespace assay
