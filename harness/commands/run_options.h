#pragma once

#include "harness/cases/case.h"
#include "harness/cases/select.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/row_options.h"
#include "harness/op/op.h"
#include "harness/report/record/run_info.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::app {

/// The places of a folder that comes with assay ("cases"): in the current directory, next to the binary, in
/// ../share/assay from it.
std::vector<std::filesystem::path> data_folders(const char* name);
/// These places, for "no folder cases/ ..." in messages.
inline constexpr std::string_view data_places = "here, next to the binary or in ../share/assay from it";

/// "there is no op 'q8ta_rleu'; did you mean 'q8ta_relu'?"
std::string no_such_op(const std::string& name, const Registry& registry);
/// Throws Error(Usage) with no_such_op() for the first of these names and globs that no op matches. `doing`
/// begins the message: "choosing the ops to fuzz".
void refuse_unknown_ops(std::span<const std::string> patterns, const Registry& registry,
                        const std::string& doing);

/// The options that select cases, shared by `run` and `list`.
struct CaseOptions {
  std::vector<std::filesystem::path> files;
  std::vector<std::filesystem::path> op_folders;  ///< --ops: folders of ops that manifests declare
  std::string filter;
  std::vector<std::string> impls;
  std::vector<std::string> ops;
  std::vector<std::string> tiers;
  std::string mode;  ///< "accu", "perf", or "both" and empty for all rows
  std::optional<std::uint64_t> seed;
  std::string shard;              ///< "2/8": the second part of eight; empty: all
  std::filesystem::path balance;  ///< report whose times are used to make the parts equally long; empty: none
  std::vector<std::string> values;  ///< --set: "KEY=VALUE", which replace values of the selected cases
  bool replays = false;             ///< --replay: see replayed_cases()
  bool nodes = false;               ///< the nodes of chains instead of all cases, see node_cases()
  std::filesystem::path times;      ///< report with the times of chains' nodes; empty: none
  std::vector<std::filesystem::path>
      expectations;  ///< folders or files with rules, in addition to those found

  /// The paths asked for, else the manifests of `op_folders`, else the folder of cases (in the current
  /// directory, else next to the binary). Folders inside `untrusted` (empty: none) are passed over. Throws
  /// Error if there is none, or if a path asked for is inside.
  std::vector<std::filesystem::path> paths(const std::filesystem::path& untrusted = {}) const;
  /// The files with rules about devices: those of `expectations` in the order given, and then those that
  /// belong to paths().
  std::vector<std::filesystem::path> expectation_files() const;
  /// Whether every case that a rule of this file may match is among the loaded case files. (A filter does not
  /// count: it chooses among the loaded cases.)
  bool has_all_cases(const std::filesystem::path& expectation_file,
                     std::span<const std::filesystem::path> loaded) const;
  Selection selection() const;
  std::vector<std::filesystem::path> manifests() const;
  /// Whether a filter, an op, an impl or a mode is given, the nodes of chains are taken, or cases are
  /// changed.
  bool is_narrowed() const;
  /// Whether only some cases are selected: by a filter, an op, an impl, a mode or a single case file. A tier
  /// does not count as such, as every tier is a set of cases that is run again and again.
  bool is_partial() const;
};

/// The files with rules in these places: a file itself, and the *.yaml files directly in a folder, sorted.
/// Throws Error if a folder has none: its rules may be in files with another suffix.
std::vector<std::filesystem::path> expectation_files(std::span<const std::filesystem::path> places);

/// Throws Error(Usage) saying that none of these cases is selected, by which options, and what may have been
/// meant.
[[noreturn]] void throw_nothing_selected(const CaseOptions& options, std::span<const Case> cases);

/// The value of an environment variable, or null: std::getenv.
using Environment = std::function<const char*(const char* name)>;

/// A shard, and the option or variables that chose it.
struct AskedShard {
  Shard shard;
  std::string by;  ///< "--shard", or the names of the variables
};

/// Parses "2/8", the second of eight. Throws Error(Usage).
Shard parse_shard(const std::string& text);

/// The shard that a run should have. The first of these that is given counts: `option` (--shard),
/// GTEST_SHARD_INDEX of GTEST_TOTAL_SHARDS (GoogleTest, from 0 on), TEST_SHARD_INDEX of TEST_TOTAL_SHARDS
/// (Bazel, from 0 on), CI_NODE_INDEX of CI_NODE_TOTAL (GitLab, from 1 on). nullopt: the run has all rows.
/// Throws Error(Usage) that names the variables if they are inconsistent: a shard that ran all rows, or none,
/// would go unnoticed.
std::optional<AskedShard> asked_shard(const std::string& option, const Environment& environment);

/// Creates the files that GTEST_SHARD_STATUS_FILE and TEST_SHARD_STATUS_FILE name: they show the caller that
/// sharding is supported. Throws Error(Infrastructure).
void touch_shard_status_files(const Environment& environment);

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
    bool may_leave_faults_unmet = false;  ///< --inject-fault may match no row, for the same reason
    int max_failures = 0;                 ///< stop after this many failed rows; 0: run all
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
  std::string as_if;          ///< --as-if: see find_profile() (device_profiles.h); empty: none
  std::filesystem::path out;  ///< --out; empty: the default, see output_root()
  bool overwrite = false;
  std::filesystem::path shaders;
  std::filesystem::path versus_shaders;
  bool versus_alone = false;    ///< run rows with the own shaders only as baselines of the other version's
  std::string tuning = "auto";  ///< --tuning: "none", "auto" or a file, see tuning_for()
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
