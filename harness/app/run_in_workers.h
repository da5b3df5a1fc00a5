#pragma once

#include "harness/app/context.h"
#include "harness/app/device_output.h"
#include "harness/app/run_folder.h"
#include "harness/app/run_options.h"
#include "harness/engine/workers/protocol.h"

#include <functional>
#include <span>

namespace assay::app {

/// What a run in workers is given.
struct WorkersRun {
  OutputParts output;
  const Context& context;
  const ShardInfo& shard;         ///< as RunInfo
  std::uint64_t secret_seed = 0;  ///< as RunInfo
  /// Groups of rows of mode accu among those that are selected, before a device is known.
  std::size_t accuracy_groups = 0;
  std::function<bool()> stop_requested;
  /// Told the devices before anything runs on them; may throw to refuse them.
  std::function<void(std::span<const ChosenDevice>)> devices_known;
  /// Told each device whose rows have ended, in their order: concludes it.
  std::function<void(DeviceOutput& output)> conclude;
};

/// Runs the rows on every device that the command line chooses side by side, each in a worker process of its
/// own, or where it is a CPU in several (count_of_workers). Throws Error: what the first worker refused, or
/// what cannot be written.
void run_in_workers(const WorkersRun& run);

}  // namespace assay::app
