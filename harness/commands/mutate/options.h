#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::app {

/// The options of `assay mutate`.
struct MutateOptions {
  /// What decides the faults and the rows: a resumed run has what its journal says.
  struct Choice {
    std::vector<std::string> shaders;  ///< names or globs of files; empty: all
    std::vector<std::filesystem::path> cases;
    std::filesystem::path folder;  ///< --shaders: sources before the embedded ones; empty: none
    /// --ops: the folder of a manifest whose kernels get the faults; it is `folder`, too. Empty: assay's get
    /// them.
    std::filesystem::path op_folder;
    std::uint64_t seed = 1;
    std::size_t per_file = 0;  ///< --limit: most faults of a file; 0: all
    std::string since;         ///< commit: only lines that changed since then; empty: all
    std::string shard;         ///< "2/8"; empty: all
    std::size_t rows = 1000;   ///< most rows that run for a fault

    std::vector<std::filesystem::path> op_folders() const {
      if (op_folder.empty()) return {};
      return {op_folder};
    }
  };
  Choice choice;
  std::filesystem::path resume;  ///< folder of a run to be finished; empty: a new run
  /// --merge: folders of a run's shards, which become one in `out`; no fault is tried. Empty: a run.
  std::vector<std::filesystem::path> merge;
  std::filesystem::path out = "assay-mutate";
  std::filesystem::path equivalent;  ///< list of equivalent faults; empty: the one with the shaders
  double budget_s = 0;               ///< no fault is begun later; 0: no limit
  double hang_limit_s = 20;          ///< for a row
  double least = 100;                ///< score in percent from which the exit code is 0
  int jobs = 0;                      ///< worker processes; 0: as many as the CPU has threads
  bool only_list = false;            ///< print the faults, run nothing
};

}  // namespace assay::app
