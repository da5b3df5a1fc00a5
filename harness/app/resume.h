#pragma once

#include "harness/app/run_options.h"
#include "harness/app/worker.h"
#include "harness/report/record/report_builder.h"
#include "harness/report/record/rows_left.h"

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Going on with a run that ended before its rows had: assay run --resume.

namespace assay::app {

/// A run that is to be gone on with.
struct ResumedRun {
  std::filesystem::path folder;      ///< OUT/runs/<run>
  std::vector<std::string> command;  ///< its command line
  ShardInfo shard;                   ///< the part of the rows that it has
  std::uint64_t secret_seed = 0;     ///< as RunInfo
  RunOptions options;                ///< of that command line
};

/// The run that a path stands for: an output folder (its newest run), the folder of a run or of a device, or
/// a journal. Throws Error(Usage) where there is none, or where it was killed before it had written what it
/// is.
ResumedRun find_resumed_run(const std::filesystem::path& path, const ParseRun& parse);

/// The rows that have no end, were cut short by a stop, or were not reached. `wanted` is never empty where
/// the journal has a plan.
RowsLeft rows_left(const ReportBuilder& journal);

/// Rows that a worker was lost with, and how they ended, where the run was ended before it tried them once
/// more: the run that goes on does.
std::map<RowIndex, RowEnd> untried_rows(const ReportBuilder& journal);

/// Why a run cannot be gone on with, now that its circumstances and rows are known: nothing where they are
/// those of its journal.
std::optional<std::string> refuse_other_run(const RunInfo& before, const RunInfo& now);
std::optional<std::string> refuse_other_plan(const ReportBuilder& journal, std::span<const RowInfo> now);

}  // namespace assay::app
