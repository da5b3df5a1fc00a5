#pragma once

#include "harness/report/record/report_builder.h"

#include <cstddef>
#include <string>

namespace assay::app {

/// What decides in how many workers the accuracy rows of a device run side by side.
struct WorkerCountParts {
  int asked = 0;  ///< --workers; 0: not asked
  bool is_cpu = false;
  bool is_elsewhere = false;  ///< started by --worker-command: its machine and its memory are not known here
  std::size_t cores = 1;      ///< of this machine; 0: not known
  std::size_t groups = 0;     ///< of rows of mode accu that are left to be run
};
struct WorkerCount {
  std::size_t workers = 1;
  std::string note;  ///< why there are not as many as were asked for, a sentence; empty: there are
};

/// A driver that runs on the CPU compiles a kernel on one core when it first runs, and compiles for most of
/// the time: there is a worker for each core, at most eight as each takes memory, and each is to have some
/// groups of rows. A GPU has one: its rows wait for it, and not for a core.
WorkerCount count_of_workers(const WorkerCountParts& parts);

/// Rows of mode accu that a run which resumes this journal still has to run.
std::size_t accuracy_rows_left(const ReportBuilder& journal);

}  // namespace assay::app
