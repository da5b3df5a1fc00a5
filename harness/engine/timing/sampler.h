#pragma once

#include "harness/base/clock.h"
#include "harness/engine/timing/timing_tools.h"
#include "harness/report/record/block.h"

#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// A sample is at least this many units of the timer long.
inline constexpr double units_per_sample = 50;

/// The times of one timed submission.
struct Reading {
  double ns = 0;        ///< between the timestamps around the batch
  double probe_ns = 0;  ///< of the clock probe after it; 0: none ran
};

/// Something whose time can be sampled: one case on one device, or a simulation in a test.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  /// Begins a block: fresh buffers, poisoned outputs. Whatever differs between runs thus differs between
  /// blocks, too.
  virtual void open_block() = 0;
  /// How many programs a submission may have.
  virtual int most_programs() const { return std::numeric_limits<int>::max(); }
  /// Runs `warm` programs untimed, then `batch` timed ones, then the clock probe: in one submission unless
  /// the untimed ones would make it too long, or a clock of the CPU times it. A time that is not positive is
  /// discarded, and the batch is timed again.
  virtual Reading time_batch(int warm, int batch) = 0;
  /// What an audit found.
  struct Audit {
    bool is_right = true;
    Reading single;  ///< of the first audited program, which is a sample where a submission has one program
  };
  /// Runs programs as time_batch() does, and verifies what at least one of them writes, and more while less
  /// than `most_s` seconds have passed. Programs cannot tell these from timed ones.
  virtual Audit audit(int warm, int batch, double most_s) = 0;
  /// A random number that programs cannot know: it decides when audit() is called.
  virtual std::uint64_t chance() = 0;
  /// Ends the block and verifies what was timed. Returns false when the timed answer is wrong.
  virtual bool close_block() = 0;
  /// Frees what the open block holds, after a failure: the row's other blocks are not sampled.
  virtual void abandon_block() {}
};

struct SamplingOptions {
  int min_blocks = 5;
  int max_blocks = 25;
  int samples_per_block = 10;
  /// Stop when the half width of the interval of the median over blocks is below this.
  double interval_pct = 1;
  double budget_s = 1;  ///< stop also when a row has taken this long and has min_blocks
  /// Work before the samples of a block: until the clock probe runs at full clock, at most most_heat_s, and
  /// exactly that while the full clock is not known yet. A GPU lowers its clocks within milliseconds of
  /// idleness and raises them within a second of work. Without a clock probe every block is heated for
  /// least_heat_s.
  double least_heat_s = 0.05;
  double most_heat_s = 1;
  /// Heating ends early at a clock that is near the full one and no longer rises: the probe has not become
  /// faster by 1 % for settled_s, and takes at most settled_share more than at full clock. Programs that draw
  /// much power run at such a clock, however long they are heated; an idle GPU's is much lower.
  double settled_s = 0.12;
  double settled_share = 0.1;
  /// Readings at full clock in a row that end heating before the blocks after a row's first. One is enough
  /// where each sample's clock probe shows a lower clock, as on a GPU; a CPU's shows little.
  int readings_between = 3;
  /// A device that heating does not bring to full clock is throttled: it rests for rest_s and is heated
  /// again, at most most_rests times per row, and no more after a rest that did not make the probe faster by
  /// 1 %. After that its clock is accepted as it is.
  double rest_s = 0.25;
  int most_rests = 2;
  /// If more than 0: a clock probe that takes longer than in this row's best block by more than this share
  /// counts as slow, too. For CPUs, which other processes disturb for seconds, and whose probe times depend
  /// on what ran just before.
  double own_clock_tolerance = 0;
  ClockWatch* clock = nullptr;    ///< null: the sources share one of their own
  double sample_target_ns = 1e6;  ///< wanted length of a sample
  double timer_unit_ns = 0;       ///< samples last at least 50 units
  /// For drivers' watchdogs: well below 100 ms unless one program is longer.
  double max_submission_ns = 50e6;
  std::uint64_t shuffle_seed = 0;
  /// Called before every block: true ends the sampling of all rows there. Empty: never stops.
  std::function<bool()> stop_requested;
  /// Called with each block that has samples as it ends, and the index of its source. May be empty.
  std::function<void(std::size_t source, const Block& block)> block_ended;
  std::function<double()> now_s = steady_seconds;  ///< tests replace these two
  std::function<void(double)> sleep_s = sleep_for_seconds;
};

/// The samples of one row: ns per program, grouped by block.
struct Samples {
  std::vector<std::vector<double>> blocks;
  int batch = 1;        ///< timed programs in a submission
  int warm = 0;         ///< untimed ones before them
  int discarded = 0;    ///< samples thrown away because the clock was down
  double probe_ns = 0;  ///< median of the probes that ran with the kept samples; 0: no clock probe
  /// Time of submissions before the samples: to find the batch size, to raise the clock.
  double heating_s = 0;
  double resting_s = 0;
  std::string stop;      ///< "interval" or "budget"
  bool verified = true;  ///< false: some block's timed answer was wrong, sampling ended there
  double interval_pct = 0;
  std::exception_ptr failure;  ///< exception of the source; its row ends there, the others continue
  /// A stop was requested before the row had enough samples; there may be no block at all.
  bool stopped = false;

  std::vector<double> all() const;
  std::vector<double> block_medians() const;
};

/// The blocks that an earlier attempt sampled of a source.
struct SampledBefore {
  /// They count in every decision and figure as if they were sampled now, except for `discarded` and the wall
  /// times; batch and warm keep their values. Each block has samples.
  std::vector<Block> blocks;
  int next_round = 0;  ///< new blocks get rounds from this one on
};

/// Samples all sources, interleaved in rounds: one block of each per round, in a newly shuffled order, until
/// each has a narrow interval or has spent its budget. Sources with equal `comparison_groups[i]` (empty: each
/// is alone) end in the same round, when all of them may end, so they are sampled in the same rounds, apart
/// from those that fail. A comparison group may therefore exceed its budget, but never max_blocks, unless one
/// of its sources has more blocks from before than another. `before[i]` belongs to source i; empty: nothing
/// was sampled before.
std::vector<Samples> sample_interleaved(std::span<SampleSource* const> sources,
                                        const SamplingOptions& options,
                                        std::span<const std::size_t> comparison_groups = {},
                                        std::span<const SampledBefore> before = {});

}  // namespace assay
