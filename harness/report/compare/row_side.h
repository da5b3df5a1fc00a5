#pragma once

#include "harness/report/record/record.h"

#include <memory>
#include <string>
#include <vector>

namespace assay {

/// One row as one side of a comparison has it: what all runs of that side say of it.
struct RowSide {
  /// Of the first run that has the row. Null in a verdict, which has it itself.
  std::shared_ptr<const RowInfo> info;
  std::vector<std::string> runs;     ///< ids of the runs that have it
  Status status = Status::Pass;      ///< the worst of theirs
  std::string reason;                ///< of that status
  std::string input_hash;            ///< of its inputs; empty: unknown
  std::string output_hash;           ///< of its outputs; empty: unknown, or its runs differ
  bool is_exact = false;             ///< whose hash must be equal on all devices
  std::string conflict;              ///< how its runs differ in what they asked of the row; empty: they agree
  std::vector<std::string> drivers;  ///< name and version, each once
  std::vector<std::string> programs;  ///< hashes of the programs that were timed, each once; "": unknown
  std::vector<std::string> clocks;    ///< "gpu", "wall", each once
  std::string suspect;                ///< why its times cannot be trusted; empty: they can
  double err_over_bound = 0;          ///< the largest; 0 where nothing was judged
  std::vector<double> block_us;       ///< median of each block of samples, run after run
  int samples = 0;
  double time_us = 0;     ///< median of all samples, as time_us_p50 of perf.csv; 0: no time
  double spread_pct = 0;  ///< largest less smallest of block_us, of time_us
  double ci_pct = 0;      ///< half width of the interval of block_us's median, of that median
  double timer_pct = 0;   ///< unit of the clock as a share of one sample, the largest of the runs
  double clock_ratio =
      0;  ///< the clock probe's at full clock over its time beside the samples, median of the runs; 0: none
  double pct_peak = 0;  ///< of the limit that holds the program back, median of the runs; 0: unknown
  std::string limited_by;

  bool has_time() const { return time_us > 0; }
  double lowest_us() const;
  double highest_us() const;
  /// Whether the runs came to an answer, right or wrong: neither left out nor never reached.
  bool has_result() const;
};

/// Pools the runs of one side. `runs[i]` is the run that `records[i]` is of; both have at least one element.
RowSide pool_runs(const std::vector<const RunInfo*>& runs, const std::vector<const Record*>& records);

/// What two sides ask of the device differently, "params k=3 and k=5": rows of one id whose case was edited
/// in between. Empty: the same. How it is done (tune, shaders, driver) is no part of it.
std::string task_difference(const RowSide& a, const RowSide& b);

/// "Acme 12.3"
std::string driver_of(const RunInfo& run);

}  // namespace assay
