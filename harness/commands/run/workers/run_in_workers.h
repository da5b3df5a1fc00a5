#pragma once

#include "harness/commands/context.h"
#include "harness/commands/run/output/device_output.h"
#include "harness/commands/run/output/run_folder.h"
#include "harness/commands/run_options.h"
#include "harness/engine/supervision/protocol.h"
#include "harness/report/journal/report_builder.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace assay::app {

/// The facts that decide the number of parallel workers for a device's accuracy rows.
struct WorkerCountParts {
  int asked = 0;  ///< --workers; 0: not asked
  bool is_cpu = false;
  bool is_elsewhere = false;  ///< started by --worker-command: its machine and memory are unknown here
  std::size_t cores = 1;      ///< of this machine; 0: unknown
  std::size_t groups = 0;     ///< groups of accuracy rows that are left to run
};
struct WorkerCount {
  std::size_t workers = 1;
  std::string note;  ///< why there are fewer than asked for, as a sentence; empty: there are not
};

/// A driver that runs on the CPU compiles a kernel on one core when it first runs, and spends most of its
/// time compiling: so there is one worker per core, at most eight as each takes memory, and at least a few
/// groups of rows for each. A GPU has one worker: its rows wait for the GPU, not for a core.
WorkerCount count_of_workers(const WorkerCountParts& parts);

/// The number of accuracy rows that a run which resumes this journal has to run.
std::size_t accuracy_rows_left(const ReportBuilder& journal);

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
