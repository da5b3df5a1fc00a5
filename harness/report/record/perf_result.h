#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// The time of one dispatch label within a program, from a separate pass with timestamps around each
/// dispatch.
struct DispatchShare {
  std::string label;
  std::string role;  ///< "op" or "transition"
  double time_us = 0;
};

/// The energy of one program run, from a window in which the program ran back to back (--energy).
struct Energy {
  std::string source;         ///< what told it, and what its figure covers: "RAPL package-0 (the processor)"
  double joules = 0;          ///< for one program run: `watts` times `window_s` / `programs`
  double watts = 0;           ///< mean power in the window, idle power included
  double window_s = 0;        ///< from the first program of the window to the end of its last one
  std::int64_t programs = 0;  ///< that ran in it
  int readings = 0;           ///< of power, or different ones of a counter of energy
};

/// Kernel time of one program run: all its timed dispatches, barriers included. The figures up to `batch` and
/// the samples are computed from the row's blocks (describe_blocks), the output hash by record_of.
struct PerfResult {
  double time_us_min = 0, time_us_p25 = 0, time_us_p50 = 0, time_us_p75 = 0;
  double time_us_mean = 0, time_us_stdev = 0;
  double spread_pct = 0;  ///< (largest - smallest block median) / median
  double ci_pct = 0;      ///< half width of the median's interval over blocks, in percent of the median
  int blocks = 0;
  int samples = 0;
  int batch = 0;             ///< programs per sample
  int sets = 1;              ///< sets of inputs over which the timed programs rotate; 1: always the same
  int discarded = 0;         ///< samples that were discarded because the device's clock was down
  std::string stop;          ///< "interval" or "budget"
  double throughput_us = 0;  ///< per program when programs overlap (no barrier between them)
  double time_transition_us = 0;
  double setup_us = 0;  ///< time of the setup dispatches, which run once and are in no other time; 0: none
  double isolated_us =
      0;  ///< time of one program alone, with nothing before or alongside it; 0: not measured
  std::int64_t bytes = 0;
  std::int64_t bytes_read = 0;  ///< bytes that are read, part of `bytes`
  std::int64_t operations = 0;
  std::string ceiling;   ///< name of the ceiling for the impl's operations: "dot4x8"
  double peak_gbps = 0;  ///< see Roofline (op/roofline.h), as are the next five
  double peak_gops = 0;
  double pct_peak_bw = 0;
  double pct_peak_ops = 0;
  std::string limited_by;
  std::string suspect;
  std::string clock;  ///< "gpu" timestamps or "wall" time of batches
  std::string timer;  ///< "good", "coarse" (samples are under 50 units of the clock) or "broken"
  /// The clock probe's time at full clock divided by its time with the samples that were kept: below 1 the
  /// device ran slower; 0: no clock probe ran.
  double clock_ratio = 0;
  bool verified = false;    ///< the timed outputs equal the judged output
  double verified_pct = 0;  ///< share of the timed outputs' elements that were compared
  std::string output_hash;
  std::string impl_auto;  ///< impl auto: the impl that it chose
  /// impl auto: how much longer it took than the best impl that it could have chosen; computed from the rows'
  /// times (compared_rows.h).
  std::optional<double> regret_pct;
  /// Time divided by that of the slowest impl that the case names (each impl's fastest point of `tune`);
  /// absent if the case names only one impl; computed from the rows' times (compared_rows.h).
  std::optional<double> ratio;
  std::string ratio_to;  ///< name of that impl
  double compile_ms = 0;
  std::string spirv_hash;
  /// Hash of everything that the device runs: SPIR-V, specialization constants, workgroups, push constants,
  /// dispatches, bindings and their memory types. Rows with equal hashes are the same program.
  std::string program_hash;
  std::optional<std::int64_t>
      registers;  ///< per invocation, the largest of the dispatches; if the driver reports it
  std::optional<std::int64_t> spill_bytes;   ///< per invocation, the largest of the dispatches
  std::optional<std::int64_t> shared_bytes;  ///< per workgroup, the largest of the dispatches
  std::int64_t memory_bytes = 0;             ///< device memory of all its sets
  double submitted_ms = 0;       ///< wall time of the timed submissions, with warm-up and passes per dispatch
  std::optional<Energy> energy;  ///< with --energy, if the device tells it
  std::string no_energy;         ///< with --energy, of a device that tells it: why this row has none
  std::vector<DispatchShare> dispatches;
  std::vector<std::vector<double>> sample_us;  ///< raw samples by block
};

/// A row's time compared with its baseline's, sampled in the same rounds of blocks. Computed from the blocks
/// of both rows (compared_rows.h).
struct Comparison {
  std::string baseline;  ///< id of the baseline row; empty: the group has none
  /// Time divided by the baseline's: the median of the quotients of block medians, one pair of blocks per
  /// round; 0: not compared, `note` says why.
  double ratio = 0;
  double ratio_low = 0, ratio_high = 0;  ///< interval of the median over these quotients
  int blocks = 0;                        ///< pairs of blocks
  std::string note;
};

/// Where the wall time of a timed row went, apart from its submissions (PerfResult::submitted_ms).
struct TimeSpent {
  double judging_ms = 0;  ///< until its answer was found right and it could be timed
  double filling_ms = 0;  ///< allocating, filling, comparing and freeing its blocks' memory
  double heating_ms =
      0;  ///< part of the submissions: those before each block's samples, until the clock is up
  double resting_ms = 0;  ///< waiting for the device to cool down
};

}  // namespace assay
