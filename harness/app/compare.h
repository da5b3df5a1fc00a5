#pragma once

#include "harness/app/context.h"
#include "harness/base/error.h"

#include <filesystem>
#include <string>
#include <vector>

namespace assay::app {

struct CompareOptions {
  std::vector<std::filesystem::path> runs;        ///< base and new, unless these are named one by one:
  std::vector<std::filesystem::path> base, next;  ///< as journals_of() takes them
  std::filesystem::path csv, json, markdown;      ///< files to write; "-": stdout; empty: none
  std::string explain;                            ///< an id, a glob over ids, or a part of one; empty: none
  std::string fail_on = "slower,broken,gone";     ///< names of verdicts, or "none"
  double smallest_effect_pct = 1;
  bool judge_same_programs = false;
  bool all = false;
  bool new_and_gone = false;             ///< list these rows, not only how many they are
  std::filesystem::path run_noise;       ///< file that tells what runs of devices differ by; empty: none
  std::filesystem::path keep_run_noise;  ///< such a file, which these runs are added to; empty: none
};

/// Judges row by row what two sides differ in and prints it. Failures when a verdict is one of `fail_on`.
/// Throws Error(Usage) for a side that cannot be read.
ExitCode compare(const CompareOptions& options, const Terminal& terminal);

}  // namespace assay::app
