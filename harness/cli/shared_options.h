#pragma once

#include "harness/commands/run_options.h"

#include <CLI/App.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace assay::cli {

/// The largest seed.
inline constexpr std::uint64_t most_seed = std::numeric_limits<std::uint64_t>::max();
/// The largest number that every JSON reader represents exactly, as it does all smaller ones.
inline constexpr std::uint64_t most_exact = std::uint64_t{1} << 53;
/// The longest time, in seconds, that an option may name: a week.
inline constexpr double most_seconds = 7 * 24 * 3600;

/// Checks that an option's value is a whole number from `least` to `most`, in decimal digits. The error
/// quotes the value and says the range, as does the help.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

/// Checks that an option's value is a number from `least` to `most`: neither infinite nor NaN.
CLI::Validator number(double least, double most);

/// Checks that an option's value is a number above 0 and at most `most`.
CLI::Validator positive_number(double most);

// Options that several commands have.

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
/// Refuses two of these options that write to the same file, or both to stdout.
void refuse_one_place(CLI::App& app, const std::vector<const CLI::Option*>& outputs);
void add_benchmark_flag(CLI::App& app, bool& flag);
CLI::Option* add_github_summary(CLI::App& app, std::filesystem::path& file);
/// Adds --run-noise, a file that `assay compare --keep-run-noise` wrote.
void add_run_noise(CLI::App& app, std::filesystem::path& file, const std::string& help);
CLI::Option* add_ceilings(CLI::App& app, std::string& ceilings, const std::string& help);
/// Adds --as-if, a profile as find_profile() (device_profiles.h) finds it.
CLI::Option* add_as_if(CLI::App& app, std::string& profile, const std::string& help);
CLI::Option* add_ceiling_store(CLI::App& app, std::filesystem::path& folder);

}  // namespace assay::cli
