#pragma once

#include "harness/base/clock.h"
#include "harness/engine/timing/clock_watch.h"
#include "harness/report/record/events.h"

#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// A sample is at least this many units of the timer long.
inline constexpr double units_per_sample = 50;

/// What one timed submission told.
struct Reading {
  double ns = 0;        ///< between the stamps around the batch
  double probe_ns = 0;  ///< of the clock probe behind it; 0: none ran
};

/// Something whose time can be sampled: one case on one device, or a simulation in a test.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  /// A new block: fresh buffers, poisoned outputs. What differs between runs differs between blocks.
  virtual void open_block() = 0;
  /// Runs `warm` programs untimed, then `batch` timed ones, then the clock probe, in one submission. A time
  /// that is no positive number counts as no reading, and is asked for again.
  virtual Reading time_batch(int warm, int batch) = 0;
  /// The block's end: verifies what was timed. Returns false when the timed answer is wrong.
  virtual bool close_block() = 0;
};

struct SamplingOptions {
  int min_blocks = 5;
  int max_blocks = 25;
  int samples_per_block = 10;
  double interval_pct = 1;  ///< stop when the half width of the median's interval over blocks is below
  double budget_s = 1;      ///< or when a row has taken this long (after min_blocks)
  /// Work before the samples of a block: until the clock probe runs at full clock, most_heat_s at most; that
  /// long in any case while the watch knows no full clock. A GPU lowers its clocks within milliseconds of
  /// idleness and raises them within a second of work. Without a clock probe every block is heated for
  /// least_heat_s.
  double least_heat_s = 0.05;
  double most_heat_s = 1;
  /// A device that heating does not bring to full clock is throttled: it rests so long, then is heated again,
  /// so often a row; then its clock is taken as it is.
  double rest_s = 0.25;
  int most_rests = 2;
  /// More than 0: a clock probe that takes so much longer than this row's own best block of them counts as
  /// down too. For CPUs, which others disturb for seconds, and whose clock probes depend on what ran just
  /// before.
  double own_clock_tolerance = 0;
  ClockWatch* clock = nullptr;      ///< null: these sources have one of their own
  double sample_target_ns = 1e6;    ///< wanted length of a sample
  double timer_unit_ns = 0;         ///< samples are at least 50 units long
  double max_submission_ns = 50e6;  ///< drivers' watchdogs: well under 100 ms unless one program is longer
  std::uint64_t shuffle_seed = 0;
  /// Asked before every block: true ends the sampling of all rows there. Empty: never.
  std::function<bool()> stop_requested;
  /// Told each block that has samples as it ends, with the index of its source. Empty: nobody.
  std::function<void(std::size_t source, const Block& block)> block_ended;
  std::function<double()> now_s = steady_seconds;  ///< replaced by a fake clock in tests, as is
  std::function<void(double)> sleep_s = sleep_for_seconds;
};

/// The samples of one row: ns per program, by block.
struct Samples {
  std::vector<std::vector<double>> blocks;
  int batch = 1;         ///< timed programs in a submission
  int warm = 0;          ///< untimed ones before them
  int discarded = 0;     ///< samples thrown away because the clock was down
  double probe_ns = 0;   ///< median beside the samples that were kept; 0: no clock probe
  double heating_s = 0;  ///< submissions before the samples of blocks: to find the batch, to raise the clock
  double resting_s = 0;
  std::string stop;      ///< "interval" or "budget"
  bool verified = true;  ///< false: some block's timed answer was wrong, sampling ended there
  double interval_pct = 0;
  std::exception_ptr failure;  ///< what the source threw; its row ends there, the others go on
  /// A stop was requested before the row had seen enough: there may be no block at all.
  bool stopped = false;

  std::vector<double> all() const;
  std::vector<double> block_medians() const;
};

/// What an earlier try has sampled of a source.
struct SampledBefore {
  /// They count as if they were sampled now, in every decision and figure but `discarded` and the wall times;
  /// batch and warm stay what they were. Each has samples.
  std::vector<Block> blocks;
  int next_round = 0;  ///< no block of now has a lower one
};

/// Samples all sources, interleaved in rounds: a block of each, in an order that is shuffled anew, until each
/// has a narrow interval or has spent its budget. Sources of one comparison group (`comparison_groups[i]` is
/// a number of source i's own choice; empty: each is alone) end in the same round, when all of the comparison
/// group may: what they sample now they sample in the same rounds, but for those that fail. A comparison
/// group may so outspend its budget, never max_blocks, unless one of it has more blocks from before than
/// another. `before[i]` is of source i; empty: nothing was sampled before.
std::vector<Samples> sample_interleaved(std::span<SampleSource* const> sources,
                                        const SamplingOptions& options,
                                        std::span<const std::size_t> comparison_groups = {},
                                        std::span<const SampledBefore> before = {});

}  // namespace assay
