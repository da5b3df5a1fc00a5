#pragma once

#include "harness/cases/expansion/load.h"
#include "harness/commands/run_options.h"
#include "harness/report/journal/report_builder.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// The input that says which tuning file was found, see told_in_report(). It is for readers: where the file
/// lies does not matter to results, its hash is the input "tuning".
inline constexpr const char* tuning_file_input = "tuning_file";

/// Computes RunInfo::inputs for a run of `options` with these cases.
std::map<std::string, std::string> run_inputs(const RunOptions& options, const LoadResult& loaded);

/// The inputs that differ between two runs, for a sentence: "the case files", "the array in data/x.npy";
/// nullopt if none does. Inputs that only one of the runs has, and tuning_file_input, do not count.
std::optional<std::string> different_inputs(const std::map<std::string, std::string>& before,
                                            const std::map<std::string, std::string>& now);

/// The inputs of one run that another does not have, likewise; nullopt if nothing is known about the other's.
std::optional<std::string> inputs_of_one_only(const std::map<std::string, std::string>& one,
                                              const std::map<std::string, std::string>& other);

// Resumes a run that ended before its rows did: assay run --resume.

/// A run to be resumed.
struct ResumedRun {
  std::filesystem::path folder;      ///< OUT/runs/<run>
  std::vector<std::string> command;  ///< its command line
  ShardInfo shard;                   ///< the run's part of the rows
  std::uint64_t secret_seed = 0;     ///< see RunInfo
};

/// The run that a path stands for: an output folder (its newest run), the folder of a run or of a device, or
/// a journal. Throws Error(Usage) if there is none, or if it was killed before it had written its command
/// line.
ResumedRun find_resumed_run(const std::filesystem::path& path);

/// Why a run cannot be resumed, given its current circumstances and rows; nullopt if they equal those in its
/// journal.
std::optional<std::string> refuse_other_run(const RunInfo& before, const RunInfo& now);
std::optional<std::string> refuse_other_plan(const ReportBuilder& journal, std::span<const RowInfo> now);

}  // namespace assay::app
