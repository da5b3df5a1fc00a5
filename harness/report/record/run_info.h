#pragma once

#include "harness/base/error.h"
#include "harness/device/device_info.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace assay {

/// Version of journal and reports; raised when a column or a field changes its meaning. Journals of older
/// versions can be read: fields that they do not have keep their initial value.
inline constexpr int report_schema = 3;

/// A rule of the device's expectations that needs another look.
struct RuleNote {
  std::string state;     ///< "expired", "stale" or "wide"
  SourceLocation where;  ///< the rule
  std::string match;     ///< its glob
  std::string reason;    ///< why the rule is there, with its link
  std::string note;      ///< what was found, and what to do
};

/// The part of all rows that a run has, if they are divided among several runs (assay run --shard). The unit
/// of division is a group of rows that share their data, in the order of the whole plan.
struct ShardInfo {
  int index = 0;               ///< from 1 on
  int count = 0;               ///< 0: the run has all rows
  std::size_t all_groups = 0;  ///< groups in the whole plan
  std::size_t all_rows = 0;
  std::string plan_hash;  ///< hash of all rows' ids: shards of one plan have the same
  std::vector<std::array<std::size_t, 3>>
      groups;  ///< places of its groups, see number_ranges() (rows_to_run.h)

  bool is_part() const { return count > 0; }
};

/// The first line of a journal: everything that the run's results depend on.
struct RunInfo {
  int schema = report_schema;
  std::string run_id;       ///< "20260102T030405Z-1a2b3c"
  std::string started_utc;  ///< ISO 8601
  DeviceInfo device;
  std::string version;  ///< assay's version, with the commit if known
  std::string compiler;
  std::string build_type;
  std::string host;  ///< name of the machine
  std::string os;
  std::string cpu;
  int cores = 0;
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  ///< the Vulkan loader's variables that are set
  std::uint64_t seed = 0;
  /// Drawn at random when the run was planned. Rows of mode perf are also judged on data of this seed, which
  /// no shader can know. 0: they were not.
  std::uint64_t secret_seed = 0;
  bool validation = false;
  bool robust_access = false;  ///< the devices checked each memory access of shaders
  /// Hashes of the run's inputs: "binary", "cases", "expectations", "shaders", "versus_shaders", "tuning". A
  /// run can be resumed only if all are unchanged.
  std::map<std::string, std::string> inputs;
  /// Options of the command line that a row's repro line must repeat, in addition to the row's folder of
  /// shaders: "--device '1' --seed 7".
  std::string repro_options;
  TimerCalibration timer;
  Ceilings ceilings;  ///< nothing measured: the run has no row of mode perf, or was asked not to measure
  std::vector<RuleNote> rule_notes;  ///< known when the rows have ended
  /// What tells the device's energy: "NVML, counter of total energy", or "none" with the sources that were
  /// tried and why each failed. Empty: the run does not measure energy (--energy), or has no timed row.
  std::string energy;
  ShardInfo shard;
  std::vector<std::string> merged;  ///< ids of the shards' runs that this run was merged from
};

}  // namespace assay
