#pragma once

#include "harness/commands/case_options.h"
#include "harness/commands/shard_choice.h"
#include "harness/engine/run/row_options.h"
#include "harness/report/record/record.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {

/// The options of `assay run`, as its command line gives them (harness/cli/options_of_run.cpp).
struct RunOptions {
  /// Options that each attempt to run has anew: with --resume, those of the run's own command line do not
  /// count.
  struct Attempt {
    bool isolation = true;  ///< rows run in one or more worker processes per device
    /// Users' shaders are compiled in this process, without limits on time and memory.
    bool compiles_here = false;
    /// The folder of --shaders may hold no file that a row uses: a command chose the rows, not its user.
    bool may_leave_shaders_unused = false;
    int max_failures = 0;  ///< stop after this many failed rows; 0: run all
    bool verbose = false;
  };

  CaseOptions cases;
  RowOptions rows;  ///< what the engine reads
  Attempt attempt;
  std::optional<AskedShard> shard;           ///< from cases.shard or the environment; absent: all rows
  ShardInfo resumed_shard;                   ///< with `resume`: the run's part of the rows
  std::optional<std::uint64_t> secret_seed;  ///< absent: drawn at random; 0: none
  std::vector<std::string> devices;
  std::string expect_device;
  std::filesystem::path out;  ///< --out; empty: the default, see output_root()
  bool overwrite = false;
  std::filesystem::path shaders;
  std::filesystem::path versus_shaders;
  bool versus_alone = false;  ///< run rows with the own shaders only as baselines of the other version's
  std::string ceilings = "stored";      ///< "stored", "measure" or "none"
  std::filesystem::path ceiling_store;  ///< folder of one night's ceilings; empty: the default one
  std::string answer_cache;             ///< folder, or "none"; empty: the default one
  std::string worker_command;           ///< shell command that starts a worker; empty: this binary
  std::filesystem::path resume;         ///< run to be resumed; empty: a new run
  double hang_limit_s = 0;  ///< silence of a worker that counts as hanging, in s; 0: depends on the phase
  int workers = 0;          ///< workers for accuracy rows on a CPU; 0: see count_of_workers
  int jobs = 0;             ///< threads for references in all workers together; 0: as many as the CPU has
  std::optional<int> preparing_threads;      ///< per worker; 0: none; absent: see preparing_threads()
  std::vector<std::string> injected_faults;  ///< see InjectedFault
  std::filesystem::path github_summary;      ///< file to append to; empty: none
  bool validation = false;
  bool robust_access = false;
  bool strict = false;  ///< expired, stale and too wide rules of the expectations make the run fail
  bool watch = false;
  bool dry_run = false;  ///< check the options and the case files, without a device and without reports
  bool benchmark_console = false;
};

}  // namespace assay::app
