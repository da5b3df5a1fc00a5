#pragma once

// What each command takes, declared to CLI11. It is heavy to compile: only these and command_line.cpp see it.

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
/// Case files, and what selects rows of them.
void add_case_options(CLI::App& app, app::CaseOptions& options);
void add_benchmark_flag(CLI::App& app, bool& flag);
CLI::Option* add_github_summary(CLI::App& app, std::filesystem::path& file);
void add_ceiling_store(CLI::App& app, std::filesystem::path& folder);

// One for each command.
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

/// A run that is gone on with has its command line already: only how it is run may be said anew. To be called
/// after add_run().
void refuse_others_beside_resume(CLI::App& app);

}  // namespace assay::cli
