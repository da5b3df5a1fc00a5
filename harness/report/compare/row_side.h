#pragma once

#include "harness/report/record/failure_groups.h"
#include "harness/report/record/record.h"
#include "harness/report/record/words.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// One row on one side of a comparison: the pooled results of all runs of that side.
struct RowSide {
  /// The row's info in the first run that has it. Null in a RowVerdict, which has its own.
  std::shared_ptr<const RowInfo> info;
  std::vector<std::string> runs;  ///< ids of the runs that have the row
  Status status = Status::Pass;   ///< worst status of these runs
  std::string reason;             ///< reason of that status
  /// How the run with that status failed; absent: it did not.
  std::optional<FailureWords> failure;
  std::string input_hash;             ///< hash of the inputs; empty: unknown
  std::string output_hash;            ///< hash of the outputs; empty: unknown, or the runs differ
  bool is_exact = false;              ///< the output hash must be equal on all devices
  std::string conflict;               ///< how the row's task differs between the runs; empty: it does not
  std::vector<std::string> drivers;   ///< name and version, each once
  std::vector<std::string> programs;  ///< hashes of the programs that were timed, each once; "": unknown
  std::vector<std::string> clocks;    ///< "gpu", "wall", each once
  std::vector<std::string> tunes;  ///< tunables that the case sets of the timed programs, each once; "": none
  std::vector<std::string> tunings;   ///< what tuning files set of them, each once; "": none
  std::vector<std::string> tunables;  ///< all_tunables() of both, each once
  std::string suspect;                ///< why the times cannot be trusted; empty: they can
  double err_over_bound = 0;          ///< the largest of the runs; 0 if nothing was judged
  std::vector<double> block_us;       ///< median of each block of samples, run by run
  int samples = 0;
  double time_us = 0;      ///< median of all samples, as time_us_p50 of perf.csv; 0: no time
  double spread_pct = 0;   ///< largest minus smallest of block_us, in percent of time_us
  double ci_pct = 0;       ///< half width of the interval of the median of block_us, in percent of it
  double timer_pct = 0;    ///< unit of the clock as a share of one sample, the largest of the runs
  double clock_ratio = 0;  ///< the clock probe's time at full clock divided by its time with the samples,
                           ///< median of the runs; 0: none
  double pct_peak = 0;     ///< share of the nearer ceiling, median of the runs; 0: unknown
  std::string limited_by;
  double energy_j = 0;  ///< of one program, median of the runs; 0: none measured it, or not by one source

  bool has_time() const { return time_us > 0; }
  double lowest_us() const;
  double highest_us() const;
  /// Whether the runs have an answer, right or wrong: the row was neither left out nor unreached.
  bool has_result() const;
};

/// Why the time of a timed record, which has `perf`, cannot be trusted; empty: it can.
std::string suspicion(const RunInfo& run, const Record& record);

/// Pools the runs of one side. `records[i]` belongs to `runs[i]`; both have at least one element.
RowSide pool_runs(const std::vector<const RunInfo*>& runs, const std::vector<const Record*>& records);

/// How the tasks of two sides differ, "params k=3 and k=5", if the case of an id was edited in between.
/// Empty: they are equal. How the task is computed (tune, shaders, driver) does not count.
std::string task_difference(const RowSide& a, const RowSide& b);

/// Whether both sides are known to have run one program with one driver.
bool is_same_program(const RowSide& a, const RowSide& b);

}  // namespace assay
