#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"

#include <filesystem>
#include <string>
#include <vector>

namespace assay::app {

struct CompareOptions {
  std::vector<std::filesystem::path> runs;        ///< base and new, unless these are given separately:
  std::vector<std::filesystem::path> base, next;  ///< paths as for journals_of()
  std::filesystem::path csv, json, markdown;      ///< files to write; "-": stdout; empty: none
  std::string explain;                            ///< an id, a glob over ids, or a part of an id; empty: none
  std::string fail_on = "slower,broken,gone";     ///< names of verdicts, or "none"
  double smallest_effect_pct = 1;
  bool judge_same_programs = false;
  bool allow_tuning = false;  ///< see assay::CompareOptions
  bool all = false;
  bool new_and_gone = false;             ///< list these rows instead of counting them
  std::filesystem::path run_noise;       ///< file with the noise between runs of devices; empty: none
  std::filesystem::path keep_run_noise;  ///< such a file, to which these runs are added; empty: none
};

/// Judges the differences of two sides row by row and prints them. Returns Failures if a verdict is one of
/// `fail_on`. Throws Error(Usage) if a side cannot be read.
ExitCode compare(const CompareOptions& options, const Terminal& terminal);

}  // namespace assay::app
