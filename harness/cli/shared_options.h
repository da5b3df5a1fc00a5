#pragma once

// Options that several commands have.

#include "harness/commands/case_options.h"

#include <CLI/App.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::cli {

/// Help of a positional argument that names a report.
inline constexpr const char* report_help =
    "An output folder (the newest run of each device), the folder of a run or of a device, or a "
    "journal.jsonl";

/// Help of a positional argument that names runs over time.
inline constexpr const char* runs_help =
    "The folder of a farm (all nights in it), output folders (all runs in them), folders of a run or of a "
    "device, or journals";

/// Adds the case files and the options that select rows from them.
void add_case_options(CLI::App& app, app::CaseOptions& options);
/// Adds --ops, folders of ops that manifests declare.
CLI::Option* add_op_folders(CLI::App& app, std::vector<std::filesystem::path>& folders);
void add_benchmark_flag(CLI::App& app, bool& flag);
CLI::Option* add_github_summary(CLI::App& app, std::filesystem::path& file);
/// Adds --run-noise, a file that `assay compare --keep-run-noise` wrote.
void add_run_noise(CLI::App& app, std::filesystem::path& file, const std::string& help);
CLI::Option* add_ceilings(CLI::App& app, std::string& ceilings, const std::string& help);
CLI::Option* add_ceiling_store(CLI::App& app, std::filesystem::path& folder);

}  // namespace assay::cli
