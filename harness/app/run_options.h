#pragma once

#include "harness/app/case_options.h"
#include "harness/app/shard_choice.h"
#include "harness/report/record/record.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {

/// The options of `assay run`.
struct RunOptions {
  CaseOptions cases;
  std::optional<AskedShard> shard;           ///< from cases.shard or the environment; absent: all rows
  ShardInfo resumed_shard;                   ///< with `resume`: the run's part of the rows
  std::optional<std::uint64_t> secret_seed;  ///< absent: drawn at random; 0: none
  bool time_secret_data = false;  ///< timed rows use two secret data sets instead of their own and one
  std::vector<std::string> devices;
  std::string expect_device;
  std::filesystem::path out;  ///< --out; empty: the default, see output_root()
  bool overwrite = false;
  std::filesystem::path shaders;
  std::filesystem::path versus_shaders;
  bool versus_alone = false;  ///< run rows with the own shaders only as baselines of the other version's
  std::string baseline_impl;
  std::filesystem::path dump;
  double budget_s = 1;
  double program_limit_s = 10;  ///< programs that would need longer even at the device's ceilings are SKIPPED
  double injected_slowdown_pct = 0;
  std::string ceilings = "stored";      ///< "stored", "measure" or "none"
  std::filesystem::path ceiling_store;  ///< folder of one night's ceilings; empty: the default one
  std::string answer_cache;             ///< folder, or "none"; empty: the default one
  bool isolation = false;               ///< rows run in one or more worker processes per device
  std::string worker_command;           ///< shell command that starts a worker; empty: this binary
  std::filesystem::path resume;         ///< run to be resumed; empty: a new run
  double hang_limit_s = 0;  ///< silence of a worker that counts as hanging, in s; 0: depends on the phase
  int workers = 0;          ///< workers for accuracy rows on a CPU; 0: see count_of_workers
  int jobs = 0;             ///< threads for references in all workers together; 0: as many as the CPU has
  std::optional<int> preparing_threads;      ///< per worker; 0: none; absent: see preparing_threads()
  std::vector<std::string> injected_faults;  ///< see InjectedFault
  std::filesystem::path github_summary;      ///< file to append to; empty: none
  int max_failures = 0;                      ///< stop after this many failed rows; 0: run all
  bool validation = false;
  bool robust_access = false;
  bool strict = false;  ///< expired and stale rules of the expectations make the run fail
  bool watch = false;
  bool verbose = false;
  bool benchmark_console = false;
};

}  // namespace assay::app
