#pragma once

#include "harness/report/record/report_builder.h"

#include <cstddef>
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

}  // namespace assay::app
