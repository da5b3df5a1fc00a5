#pragma once

#include "harness/app/context.h"
#include "harness/app/device_output.h"
#include "harness/app/run_folder.h"
#include "harness/app/run_options.h"
#include "harness/engine/workers/protocol.h"

#include <functional>
#include <span>

namespace assay::app {

/// The parts of a run in workers.
struct WorkersRun {
  OutputParts output;
  const Context& context;
  const ShardInfo& shard;         ///< see RunInfo
  std::uint64_t secret_seed = 0;  ///< see RunInfo
  /// Number of selected groups that have rows of mode accu, before a device is known.
  std::size_t accuracy_groups = 0;
  std::function<bool()> stop_requested;
  /// Called with the devices before anything runs on them; may throw to refuse them.
  std::function<void(std::span<const ChosenDevice>)> devices_known;
  /// Called for each device, in order, when its rows have ended, to conclude it.
  std::function<void(DeviceOutput& output)> conclude;
};

/// Runs the rows on every device that the command line chooses in parallel, each in its own worker process,
/// or in several on a CPU (count_of_workers). Throws Error: what the first worker refused, or a failure to
/// write.
void run_in_workers(const WorkersRun& run);

}  // namespace assay::app
