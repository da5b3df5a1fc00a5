#pragma once

#include <filesystem>
#include <string>

namespace assay {

/// How the rows of a run are run and measured: the options of `assay run` that the engine reads. The command
/// line writes these members, and nothing copies them on the way here.
struct RowOptions {
  std::filesystem::path dump;  ///< --dump: folder for tensors and SPIR-V; empty: none
  std::string baseline_impl;   ///< --baseline-impl: other rows are compared with this impl's; empty: none
  double budget_s = 1;         ///< --budget: of sampling, for a row of mode perf
  /// --program-limit, in seconds: a program that needs longer even at the device's ceilings is not run. The
  /// case's timeout may be shorter.
  double program_limit_s = 10;
  /// --time-secret-data: rows that have secret data are timed on two sets of these, which no shader can know,
  /// instead of their own data and one set.
  bool times_secret_data = false;
  bool measures_energy = false;      ///< --energy: timed rows get a window in which their energy is measured
  int replays = 0;                   ///< --replay: further runs of each row of mode accu; 0: none
  double injected_slowdown_pct = 0;  ///< --inject-slowdown: extra work for every timed program
};

}  // namespace assay
