#pragma once

#include "harness/app/context.h"
#include "harness/app/run_options.h"
#include "harness/engine/accuracy/answer_cache.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/run_info.h"
#include "harness/engine/run/run_options.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// The rows that `cases` give with these options.
std::vector<PlannedGroup> planned_groups(const RunOptions& options, std::span<const Case* const> cases);

/// What the rows of such a run are called.
RowNames row_names(const RunOptions& options);

/// What the engine is to do on one device, of what the command line says. Timing tools and the other version
/// of the shaders are not in it: they belong to whoever runs.
DeviceRunOptions engine_options(const RunOptions& options, const gpu::Instance& instance,
                                const DeviceInfo& device, const std::function<bool()>& stop_requested);

/// Threads that prepare rows ahead where references may have `jobs` of them (0: as many as the CPU has).
int preparing_threads(const RunOptions& options, int jobs);

/// Where references' answers are kept: nowhere when the command line says so, when the build is of changed
/// files or does not know its references' code.
AnswerCacheOptions answer_cache_options(const RunOptions& options, const BuildInfo& build);

RunSettings run_settings(const RunOptions& options, const Context& context, const std::string& run_id);

}  // namespace assay::app
