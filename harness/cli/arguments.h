#pragma once

// Declares each command's arguments to CLI11. Its headers are slow to compile, so only the files that add
// arguments and command_line.cpp include them.

#include "harness/app/compare.h"
#include "harness/app/judge/options.h"
#include "harness/app/merge.h"
#include "harness/app/page.h"
#include "harness/app/prune.h"
#include "harness/app/report.h"
#include "harness/app/run_options.h"
#include "harness/app/verdict.h"
#include "harness/cli/commands.h"

#include <CLI/App.hpp>

#include <filesystem>

namespace assay::cli {

// Shared by commands.
/// Adds the case files and the options that select rows from them.
void add_case_options(CLI::App& app, app::CaseOptions& options);
void add_benchmark_flag(CLI::App& app, bool& flag);
CLI::Option* add_github_summary(CLI::App& app, std::filesystem::path& file);
void add_ceiling_store(CLI::App& app, std::filesystem::path& folder);

// One function per command.
void add_run(CLI::App& app, app::RunOptions& options);
void add_judge(CLI::App& app, app::JudgeOptions& options);
void add_devices(CLI::App& app, DevicesOptions& options);
void add_report(CLI::App& app, app::ReportOptions& options);
void add_merge(CLI::App& app, app::MergeOptions& options);
void add_show(CLI::App& app, app::ShowOptions& options);
void add_pivot(CLI::App& app, app::PivotOptions& options);
void add_summary(CLI::App& app, app::SummaryOptions& options);
void add_page(CLI::App& app, app::PageOptions& options);
void add_compare(CLI::App& app, app::CompareOptions& options);
void add_verdict(CLI::App& app, app::VerdictOptions& options);
void add_prune(CLI::App& app, app::PruneOptions& options);

/// Makes --resume exclude every option that the resumed run's own command line has settled; options that only
/// say how to run, such as --workers, stay allowed. Call it after add_run().
void refuse_others_beside_resume(CLI::App& app);

}  // namespace assay::cli
