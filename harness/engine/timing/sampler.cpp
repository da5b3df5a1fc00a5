#include "harness/engine/timing/sampler.h"

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/statistics.h"
#include "harness/tensor/fill/fill.h"
#include "harness/tensor/fill/random_bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

namespace assay {
namespace {

constexpr double steady_ratio = 0.02;     // warm-up ends when two batches agree this well ...
constexpr double warm_up_limit_s = 0.25;  // ... or after this long
constexpr int warm_up_batches = 1000;     // ... or after this many, in case the CPU's clock stands still
constexpr int heating_batches = 100000;   // the limit for heating, for the same reason
constexpr int steady_readings = 3;        // at full clock in a row end heating before a row's first block
constexpr double faster_share = 0.99;     // a probe that takes less than this share of the best one is faster
constexpr double grown_ratio = 1.1;       // a batch longer than this is tried before it is sampled
constexpr int readings_per_sample = 10;   // attempts to get a positive time
constexpr double audit_share = 0.02;      // of the budget, if an audit can be that short

bool is_time(double ns) {
  return std::isfinite(ns) && ns > 0;
}

/// One row while it is sampled.
class Row {
 public:
  Row(SampleSource& source, const SamplingOptions& options, ClockWatch& clock)
      : source_(&source), options_(&options), clock_(&clock) {}

  /// Continues where an earlier attempt ended.
  void resume(const SampledBefore& before) {
    next_round_ = before.next_round;
    for (const Block& block : before.blocks) take_over(block);
    if (before.blocks.empty()) return;
    has_batch_ = true;
    samples_.batch = before.blocks.back().batch;
    samples_.warm = warm_of(samples_.batch, room_for(longest_of(before.blocks)));
    decide();
  }
  /// The round of its next block; a comparison group shares one.
  int next_round() const { return std::max(next_round_, last_round_ + 1); }
  void skip_to(int round) { next_round_ = round; }

  bool failed() const { return !samples_.verified || samples_.failure; }
  /// Whether sampling may end here: the interval is narrow, the budget is spent, or the source failed.
  bool may_end() const { return !samples_.stop.empty() || failed(); }
  /// A stop was requested: marks a row that does not have enough samples yet.
  void stop() { samples_.stopped = !may_end(); }
  Samples take() { return std::move(samples_); }

  /// Samples one block; nothing when the source failed.
  std::optional<Block> run_block() try {
    source_->open_block();
    prepare();
    const double started = options_->now_s();  // the budget covers samples only
    Block block = take_block(started);
    block.round = next_round();
    block.skipped = block.round - (last_round_ + 1);
    last_round_ = block.round;
    samples_.verified = source_->close_block() && is_audit_right_;
    block.wrong = !samples_.verified;
    samples_.blocks.push_back(block.program_ns());
    spent_s_ += options_->now_s() - started;
    decide();
    return block;
  } catch (...) {
    samples_.failure = std::current_exception();
    source_->abandon_block();
    return std::nullopt;
  }

 private:
  /// Takes over a block of an earlier attempt.
  void take_over(const Block& block) {
    last_round_ = block.round;
    samples_.blocks.push_back(block.program_ns());
    samples_.verified = samples_.verified && !block.wrong;
    for (const double ns : block.samples_ns) spent_s_ += ns / ns_per_s;
    if (block.probe_ns > 0) note_probes(std::vector(block.samples_ns.size(), block.probe_ns));
    if (is_down(block.probe_ns)) accepted_ns_ = block.probe_ns;
  }

  static double longest_of(const std::vector<Block>& blocks) {
    double longest_ns = 0;
    for (const Block& block : blocks) longest_ns = std::max(longest_ns, std::ranges::max(block.program_ns()));
    return longest_ns;
  }

  /// Warms up and heats until samples may be taken.
  void prepare() {
    const double started = options_->now_s();
    const double rested = samples_.resting_s;
    const bool is_first = !std::exchange(is_prepared_, true);
    if (is_first) warm_up();
    const bool was_down = settle();
    if (is_first && was_down) warm_up();  // the clock has changed, and with it the length of a sample
    samples_.heating_s += options_->now_s() - started - (samples_.resting_s - rested);
  }

  /// Takes a block's samples at full clock. It may discard as many samples as it needs; after that the lower
  /// clock counts as this row's own, because its program may draw more power than others.
  Block take_block(double started) {
    Block block{.batch = samples_.batch};
    std::vector<double> probes;
    int discarded = 0;
    const double share_s = options_->budget_s / options_->min_blocks;
    const auto left_s = [&] { return share_s - (options_->now_s() - started - audited_s_); };
    const auto taken = [&] { return static_cast<int>(block.samples_ns.size()); };
    bool keeps_slow_ones = false;
    const auto keep = [&](const Reading& reading) {
      const bool down = is_down(reading.probe_ns);
      if (down && discarded < options_->samples_per_block) {
        ++discarded;
        return;
      }
      keeps_slow_ones = keeps_slow_ones || down;
      block.samples_ns.push_back(reading.ns);
      if (reading.probe_ns > 0) probes.push_back(reading.probe_ns);
    };
    const int audit_after = drawn_place(share_s);
    bool is_audited = false;
    audited_s_ = 0;
    while (taken() == 0 || (taken() < options_->samples_per_block && left_s() > 0)) {
      const bool is_audit = !is_audited && audit_after <= taken();
      const std::optional<Reading> reading = is_audit ? audit(share_s) : sample();
      if (is_audit) is_audited = true;
      if (reading) keep(*reading);
    }
    if (!is_audited) audit(share_s);
    samples_.discarded += discarded;
    if (!probes.empty()) block.probe_ns = note_probes(probes);
    if (keeps_slow_ones) accepted_ns_ = std::max(accepted_ns_, block.probe_ns);
    return block;
  }

  /// Whether a submission is one program: an audited one is then a sample, too.
  bool is_single() const { return samples_.warm + samples_.batch == 1; }

  /// How many of a block's samples, as many as it is likely to have, are taken before the audit: a number
  /// drawn by chance.
  int drawn_place(double share_s) {
    const double likely = std::clamp(std::floor(share_s / std::max(submission_s_, 1e-9)), 1.0,
                                     1.0 * options_->samples_per_block);
    const std::uint64_t places = static_cast<std::uint64_t>(likely) + (is_single() ? 0 : 1);
    return static_cast<int>(source_->chance() % places);
  }

  /// Returns the time of the audited program if that is a sample.
  std::optional<Reading> audit(double share_s) {
    const double started = options_->now_s();
    const SampleSource::Audit found = source_->audit(samples_.warm, samples_.batch, audit_share * share_s);
    is_audit_right_ = is_audit_right_ && found.is_right;
    if (is_single() && is_time(found.single.ns)) return found.single;
    audited_s_ += options_->now_s() - started;
    return std::nullopt;
  }

  /// Records the clock probes of a block's samples, of which there is at least one, and returns their median.
  double note_probes(const std::vector<double>& probes) {
    const double own_ns = median(probes);
    probes_.insert(probes_.end(), probes.begin(), probes.end());
    best_own_ns_ = best_own_ns_ > 0 ? std::min(best_own_ns_, own_ns) : own_ns;
    samples_.probe_ns = median(probes_);
    return own_ns;
  }

  bool is_down(double probe_ns) const {
    const bool below_own = options_->own_clock_tolerance > 0 && best_own_ns_ > 0 &&
                           probe_ns > best_own_ns_ * (1 + options_->own_clock_tolerance);
    return below_own ||
           (clock_->is_down(probe_ns, accepted_ns_) && !clock_->is_accepted(probe_ns, options_->now_s()));
  }

  /// Takes one reading with a positive time.
  Reading sample() {
    for (int i = 0; i < readings_per_sample; ++i) {
      const Reading reading = submit();
      if (is_time(reading.ns)) return reading;
    }
    throw Error(fmt::format(
        "timing {} programs per submission: the clock gave no positive time {} times in a row, so it stands "
        "still, runs backwards or is too coarse for this device",
        samples_.batch, readings_per_sample));
  }

  Reading submit() {
    const double started = options_->now_s();
    const Reading reading = source_->time_batch(samples_.warm, samples_.batch);
    submission_s_ = options_->now_s() - started;
    has_probe_ = reading.probe_ns > 0;
    clock_->hear(reading.probe_ns);
    return reading;
  }

  /// Finds the batch length, then repeats batches until the clock is steady. The first submission never
  /// decides alone: what happens once (a driver that compiles then, a machine that stalls) may be all its
  /// time.
  void warm_up() {
    const double started = options_->now_s();
    double previous = 0;
    for (int i = 0; i < warm_up_batches; ++i) {
      const double reading = submit().ns;
      const double wall_ns = submission_s_ * ns_per_s;
      const double per_program = is_time(reading) ? reading / samples_.batch : 0;
      const bool grows = !has_batch_ && choose_batch(per_program, longest_program(reading, wall_ns));
      const bool steady = previous > 0 && std::fabs(per_program - previous) <= steady_ratio * previous;
      const bool is_time_up = (i > 0 || has_batch_) && options_->now_s() - started >= warm_up_limit_s;
      if ((steady && !grows) || is_time_up) return;
      previous = per_program;
    }
  }

  /// Brings the device to full clock before a block's samples; returns whether the clock was down. A long
  /// program heats the device itself: its first samples are discarded if the clock was down.
  bool settle() {
    bool was_down = false;
    if (submission_s_ >= options_->least_heat_s && clock_->full_clock_ns() > 0) return false;
    double best_before = std::numeric_limits<double>::infinity();
    for (Heated heated = heat(was_down); !heated.at_full_clock; heated = heat(was_down)) {
      if (heated.best_probe_ns >= faster_share * best_before) {
        rests_ = options_->most_rests;
        // A clock far below full is this program's own: it says nothing about the next.
        if (is_near_full(heated.best_probe_ns)) clock_->accept(heated.best_probe_ns, options_->now_s());
      }
      if (rests_ >= options_->most_rests) break;
      best_before = heated.best_probe_ns;
      rest();
    }
    return was_down;
  }

  void rest() {
    ++rests_;
    const double started = options_->now_s();
    options_->sleep_s(options_->rest_s);
    samples_.resting_s += options_->now_s() - started;
  }

  /// How heating ended.
  struct Heated {
    bool at_full_clock = false;
    double best_probe_ns = std::numeric_limits<double>::infinity();  ///< the shortest time of a clock probe
  };

  /// Keeps the device busy until it runs at full clock, or at a lower one that has settled near it.
  Heated heat(bool& was_down) {
    const bool clock_is_known = clock_->full_clock_ns() > 0;
    const double started = options_->now_s();
    double rose_s = started;
    int good_in_a_row = 0;
    Heated heated;
    for (int i = 0; i < heating_batches; ++i) {
      // Without a clock probe the clock is not watched, and the first sample heats the device, too.
      if (!has_probe_ && options_->now_s() - started + submission_s_ >= options_->least_heat_s) return {true};
      const Reading reading = submit();
      const double now_s = options_->now_s();
      if (!has_probe_) continue;
      const bool down = is_down(reading.probe_ns);
      was_down = was_down || down || !clock_is_known;
      good_in_a_row = down ? 0 : good_in_a_row + 1;
      if (reading.probe_ns < faster_share * heated.best_probe_ns) {
        rose_s = now_s;
        heated.best_probe_ns = reading.probe_ns;
      }
      heated.at_full_clock =
          good_in_a_row >= (samples_.blocks.empty() ? steady_readings : options_->readings_between);
      if (heated.at_full_clock && clock_is_known) return heated;
      const bool has_settled = now_s - rose_s >= options_->settled_s && is_near_full(heated.best_probe_ns);
      if ((has_settled && clock_is_known) || now_s - started >= options_->most_heat_s) return heated;
    }
    return heated;
  }

  bool is_near_full(double probe_ns) const {
    return probe_ns <= (1 + options_->settled_share) * clock_->full_clock_ns();
  }

  /// An upper limit for a program's time: by the device's clock if it covers enough of the batch, else the
  /// whole submission's time by the CPU's clock.
  double longest_program(double reading_ns, double wall_ns) const {
    const bool seen = is_time(reading_ns) && options_->timer_unit_ns > 0 &&
                      reading_ns >= units_per_sample * options_->timer_unit_ns;
    return seen ? reading_ns / samples_.batch
                : std::max(is_time(reading_ns) ? reading_ns : 0, wall_ns) / (samples_.warm + samples_.batch);
  }

  /// Chooses the batch size; returns whether it is clearly larger than before.
  bool choose_batch(double per_program_ns, double longest_program_ns) {
    const double wanted = std::max(options_->sample_target_ns, units_per_sample * options_->timer_unit_ns);
    const double room = room_for(longest_program_ns);
    // A quarter more goes to warm programs.
    const double batch = std::clamp(std::ceil(wanted / std::max(per_program_ns, 1.0)), 1.0,
                                    std::max(1.0, std::floor(room / 1.25)));
    const int before = samples_.batch;
    samples_.batch = std::min(static_cast<int>(batch), Block::most_batch);
    samples_.warm = warm_of(samples_.batch, room);
    return samples_.batch > grown_ratio * before;
  }

  /// The number of programs that a submission may hold.
  double room_for(double longest_program_ns) const {
    const double most = std::min(2.0 * Block::most_batch, 1.0 * source_->most_programs());
    return std::clamp(std::floor(options_->max_submission_ns / std::max(longest_program_ns, 1.0)), 1.0, most);
  }

  static int warm_of(int batch, double room) {
    return std::clamp(static_cast<int>(room) - batch, 0, std::max(1, batch / 4));
  }

  void decide() {
    if (static_cast<int>(samples_.blocks.size()) < options_->min_blocks) return;
    samples_.interval_pct = interval_pct(samples_.block_medians());
    samples_.stop.clear();  // decided anew for a row that continues for its comparison group
    if (samples_.interval_pct <= options_->interval_pct) {
      samples_.stop = "interval";
    } else if (spent_s_ >= options_->budget_s ||
               static_cast<int>(samples_.blocks.size()) >= options_->max_blocks) {
      samples_.stop = "budget";
    }
  }

  SampleSource* source_;
  const SamplingOptions* options_;
  ClockWatch* clock_;
  Samples samples_;
  int next_round_ = 0;        ///< lower limit for the round of its next block
  int last_round_ = -1;       ///< round of its newest block
  bool has_batch_ = false;    ///< the batch size comes from an earlier attempt
  bool is_prepared_ = false;  ///< whether it was warmed up
  double spent_s_ = 0;
  std::vector<double> probes_;  ///< of the samples that were kept
  double accepted_ns_ = 0;      ///< a clock probe's time that counts as this row's own clock
  double best_own_ns_ = 0;      ///< the smallest median of a block's clock probes
  bool has_probe_ = false;
  double submission_s_ = 0;  ///< time of the last submission by the CPU's clock
  int rests_ = 0;
  bool is_audit_right_ = true;
  double audited_s_ = 0;  ///< time of audits in this block that gave no sample
};

/// Fisher-Yates with Philox, so that a run's order can be repeated from its seed.
void shuffle(std::vector<std::size_t>& order, std::uint64_t seed, std::uint32_t block) {
  for (std::size_t i = order.size(); i > 1; --i) {
    const auto random =
        philox4x32({static_cast<std::uint32_t>(i), block, 0, 0},
                   {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    std::swap(order[i - 1], order[random[0] % i]);
  }
}

/// Which rows take a block in the next round: those that have not failed and whose comparison group
/// (comparison_groups[i]; each row alone when empty) has a member that may not end yet.
std::vector<bool> still_going(const std::vector<Row>& rows, std::span<const std::size_t> comparison_groups) {
  const auto same_group = [&](std::size_t i, std::size_t k) {
    return i == k || (!comparison_groups.empty() && comparison_groups[i] == comparison_groups[k]);
  };
  std::vector<bool> going(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < rows.size() && !rows[i].failed() && !going[i]; ++k) {
      going[i] = same_group(i, k) && !rows[k].may_end();
    }
  }
  return going;
}

/// Lets compared rows continue in the first round that none of them has had.
void share_rounds(std::vector<Row>& rows, std::span<const std::size_t> comparison_groups) {
  std::map<std::size_t, int> next;
  for (std::size_t i = 0; i < comparison_groups.size(); ++i) {
    int& round = next[comparison_groups[i]];
    round = std::max(round, rows[i].next_round());
  }
  for (std::size_t i = 0; i < comparison_groups.size(); ++i) rows[i].skip_to(next.at(comparison_groups[i]));
}

std::vector<Samples> taken(std::vector<Row>& rows) {
  std::vector<Samples> samples;
  for (Row& row : rows) samples.push_back(row.take());
  return samples;
}

std::vector<Samples> stopped(std::vector<Row>& rows) {
  for (Row& row : rows) row.stop();
  return taken(rows);
}

}  // namespace

std::vector<double> Samples::all() const {
  std::vector<double> values;
  for (const auto& block : blocks) values.insert(values.end(), block.begin(), block.end());
  return values;
}

std::vector<double> Samples::block_medians() const {
  std::vector<double> medians;
  for (const auto& block : blocks) medians.push_back(median(block));
  return medians;
}

std::vector<Samples> sample_interleaved(std::span<SampleSource* const> sources,
                                        const SamplingOptions& options,
                                        std::span<const std::size_t> comparison_groups,
                                        std::span<const SampledBefore> before) {
  ClockWatch own;
  ClockWatch& clock = options.clock != nullptr ? *options.clock : own;
  std::vector<Row> rows;
  for (SampleSource* source : sources) rows.emplace_back(*source, options, clock);
  for (std::size_t i = 0; i < before.size(); ++i) rows[i].resume(before[i]);
  share_rounds(rows, comparison_groups);
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto stop_requested = [&] { return options.stop_requested && options.stop_requested(); };
  for (std::uint32_t round = 0;; ++round) {
    const std::vector<bool> going = still_going(rows, comparison_groups);
    if (std::find(going.begin(), going.end(), true) == going.end()) break;
    shuffle(order, options.shuffle_seed, round);
    for (const std::size_t i : order) {
      if (!going[i]) continue;
      if (stop_requested()) return stopped(rows);
      const std::optional<Block> block = rows[i].run_block();
      if (block && options.block_ended) options.block_ended(i, *block);
    }
  }
  return taken(rows);
}

}  // namespace assay
