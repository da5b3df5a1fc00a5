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

/// What `assay run` is told.
struct RunOptions {
  CaseOptions cases;
  std::optional<AskedShard> shard;           ///< of cases.shard or the environment; nothing: all rows
  ShardInfo resumed_shard;                   ///< with `resume`: the part of the rows that the run has
  std::optional<std::uint64_t> secret_seed;  ///< nothing: drawn anew; 0: none
  std::vector<std::string> devices;
  std::string expect_device;
  std::filesystem::path out;  ///< --out; empty: the default, see output_root()
  bool overwrite = false;
  std::filesystem::path shaders;
  std::filesystem::path versus_shaders;
  bool versus_alone = false;  ///< of rows with the own shaders only what the others are held against
  std::string baseline_impl;
  std::filesystem::path dump;
  double budget_s = 1;
  double program_limit_s = 10;  ///< programs that need longer at the device's ceilings are SKIPPED
  double injected_slowdown_pct = 0;
  std::string ceilings = "stored";      ///< "stored", "measure" or "none"
  std::filesystem::path ceiling_store;  ///< folder of one night's ceilings; empty: the default one
  std::string answer_cache;             ///< folder, or "none"; empty: the default one
  bool isolation = false;               ///< rows run in a worker process a device
  std::string worker_command;           ///< shell command that starts a worker; empty: this binary
  std::filesystem::path resume;         ///< run that is gone on with; empty: a new one
  double hang_limit_s = 0;              ///< a worker that is silent for so long hangs; 0: as the phase says
  int workers = 0;                      ///< on a CPU, of its accuracy rows; 0: see count_of_workers
  int jobs = 0;  ///< threads for references, of all workers together; 0: as many as the CPU has
  std::optional<int> preparing_threads;      ///< of each worker; 0: none; nothing: preparing_threads()
  std::vector<std::string> injected_faults;  ///< see InjectedFault
  std::filesystem::path github_summary;      ///< file to append to; empty: none
  int max_failures = 0;                      ///< stop when so many rows have failed; 0: run all
  bool validation = false;
  bool robust_access = false;
  bool strict = false;  ///< expired and stale rules of the expectations make the run fail
  bool watch = false;
  bool verbose = false;
  bool benchmark_console = false;
};

}  // namespace assay::app
