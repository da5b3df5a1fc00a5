#include "harness/engine/sampler.h"

#include "harness/core/philox.h"
#include "harness/engine/statistics.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

namespace assay {
namespace {

constexpr double units_per_sample = 50;
constexpr double steady_ratio = 0.02;     // warm-up ends when two batches agree this well ...
constexpr double warm_up_limit_s = 0.25;  // ... or after this long
constexpr int max_batch = 20000;          // bounds the length of a command buffer

/// One row while it is sampled.
class Row {
 public:
  Row(SampleSource& source, const SamplingOptions& options) : source_(&source), options_(&options) {}

  bool done() const { return !samples_.stop.empty() || !samples_.verified || samples_.failure; }
  Samples take() { return std::move(samples_); }

  void run_block() try {
    const double started = options_->now_s();
    source_->open_block();
    if (samples_.blocks.empty()) warm_up();
    std::vector<double> block;
    const double share_s = options_->budget_s / options_->min_blocks;
    do {
      block.push_back(source_->time_batch(warm_, samples_.batch) / samples_.batch);
    } while (static_cast<int>(block.size()) < options_->samples_per_block &&
             options_->now_s() - started < share_s);
    samples_.verified = source_->close_block();
    samples_.blocks.push_back(std::move(block));
    spent_s_ += options_->now_s() - started;
    decide();
  } catch (...) {
    samples_.failure = std::current_exception();
  }

 private:
  /// Finds the batch length, then repeats batches until the clock is steady.
  void warm_up() {
    const double started = options_->now_s();
    double per_program = source_->time_batch(1, 1);
    choose_batch(per_program);
    for (double previous = 0; options_->now_s() - started < warm_up_limit_s;) {
      previous = std::exchange(per_program, source_->time_batch(warm_, samples_.batch) / samples_.batch);
      choose_batch(per_program);
      if (std::fabs(per_program - previous) <= steady_ratio * previous) return;
    }
  }

  void choose_batch(double per_program_ns) {
    const double wanted = std::max(options_->sample_target_ns, units_per_sample * options_->timer_unit_ns);
    const double per_program = std::max(per_program_ns, 1.0);
    const double longest =
        options_->max_submission_ns / per_program / 1.25;  // a quarter more for warm programs
    const double batch = std::clamp(std::ceil(wanted / per_program), 1.0, std::max(1.0, std::floor(longest)));
    samples_.batch = std::min(static_cast<int>(batch), max_batch);
    warm_ = std::max(1, samples_.batch / 4);
  }

  void decide() {
    if (static_cast<int>(samples_.blocks.size()) < options_->min_blocks) return;
    samples_.interval_pct = interval_pct(samples_.block_medians());
    if (samples_.interval_pct <= options_->interval_pct) {
      samples_.stop = "interval";
    } else if (spent_s_ >= options_->budget_s ||
               static_cast<int>(samples_.blocks.size()) >= options_->max_blocks) {
      samples_.stop = "budget";
    }
  }

  SampleSource* source_;
  const SamplingOptions* options_;
  Samples samples_;
  int warm_ = 1;
  double spent_s_ = 0;
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

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

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

double interval_pct(const std::vector<double>& block_medians) {
  const double middle = median(block_medians);
  const MedianInterval interval = median_interval(block_medians);
  return middle > 0 ? 100 * (interval.high - interval.low) / 2 / middle : 0;
}

std::vector<Samples> sample_interleaved(std::span<SampleSource* const> sources,
                                        const SamplingOptions& options) {
  std::vector<Row> rows;
  for (SampleSource* source : sources) rows.emplace_back(*source, options);
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto done = [](const Row& row) { return row.done(); };
  for (std::uint32_t block = 0; !std::all_of(rows.begin(), rows.end(), done); ++block) {
    shuffle(order, options.shuffle_seed, block);
    for (const std::size_t i : order) {
      if (!rows[i].done()) rows[i].run_block();
    }
  }
  std::vector<Samples> samples;
  for (Row& row : rows) samples.push_back(row.take());
  return samples;
}

}  // namespace assay
