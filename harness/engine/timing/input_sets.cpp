#include "harness/engine/timing/input_sets.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

constexpr std::uint64_t unknown_cache_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t turns_of_cache = 2;
constexpr std::size_t programs_in_order = 8;  // half of them on each data set
constexpr std::uint64_t most_sets = 2048;     // each is an allocation of its own, and devices allow 4096

double megabytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

std::uint64_t known_or_large(std::uint64_t cache_bytes) {
  return cache_bytes > 0 ? cache_bytes : unknown_cache_bytes;
}

}  // namespace

SetPlan cold_sets(std::int64_t set_bytes, std::uint64_t cache_bytes, std::uint64_t device_memory_bytes) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(set_bytes, 1));
  const std::uint64_t wanted = turns_of_cache * known_or_large(cache_bytes);
  const std::uint64_t sets = std::max<std::uint64_t>(wanted / bytes + 1, 2);
  if (sets > most_sets) {
    return {.kind = InputSets::Cold,
            .refusal =
                fmt::format("a cold row needs sets of tensors that are {:.3g} MB together, twice the cache; "
                            "{} sets of {} bytes, the most that are made, are {:.3g} MB",
                            megabytes(wanted), most_sets, bytes, megabytes(most_sets * bytes))};
  }
  if (sets * bytes > device_memory_bytes / 2) {
    return {.kind = InputSets::Cold,
            .refusal = fmt::format("a cold row needs {} sets of tensors of {} bytes: more than half of the "
                                   "device's {:.4g} MB",
                                   sets, bytes, megabytes(device_memory_bytes))};
  }
  return {.kind = InputSets::Cold, .sets = static_cast<int>(sets)};
}

SetPlan hot_sets(std::int64_t set_bytes, std::uint64_t cache_bytes, std::uint64_t device_memory_bytes) {
  const std::uint64_t both = 2 * static_cast<std::uint64_t>(std::max<std::int64_t>(set_bytes, 1));
  if (both > device_memory_bytes / 2) return {};
  const bool fit = both <= known_or_large(cache_bytes) / 2;
  return {.kind = fit ? InputSets::AlternateByProgram : InputSets::AlternateByBatch, .sets = 2};
}

void RotatingSets::open() {
  recorded_.reset();
  sets_.clear();
  programs_run_ = 0;
  last_set_ = 0;
  if (is_cold()) {
    open_cold();
  } else {
    open_hot();
  }
  keep_setup_scratch();
  memory_bytes_ = 0;
  for (const Set& set : sets_) memory_bytes_ += set.memory.memory_bytes();
  if (program_hash_.empty()) program_hash_ = executable().program_hash(sets_.front().memory);
}

/// Both data sets share one set of outputs and scratch.
void RotatingSets::open_hot() {
  sets_.push_back({.memory = data_[0].experiment->fresh_workspace(Poison::B)});
  if (alternates()) {
    sets_.push_back({data_[1].experiment->fresh_workspace(Poison::B, &sets_.front().memory), 1});
  }
  order_ = plan_.kind == InputSets::AlternateByProgram ? drawn_order() : std::vector<std::size_t>{0};
}

/// The first set of each data is filled, the others are copies: equally many of each, in an order drawn by
/// chance.
void RotatingSets::open_cold() {
  for (std::size_t i = 0; i < data_.size(); ++i) {
    sets_.push_back({data_[i].experiment->fresh_workspace(Poison::B), i});
  }
  std::vector<std::size_t> others;
  for (auto i = sets_.size(); i < static_cast<std::size_t>(plan_.sets); ++i)
    others.push_back(i % data_.size());
  std::ranges::shuffle(others, chance_);
  for (const std::size_t data : others) sets_.push_back({data_[data].experiment->empty_workspace(), data});
  copy_first_sets();
  order_.clear();
  for (std::size_t i = 0; i < sets_.size(); ++i) order_.push_back(i);
  std::ranges::shuffle(order_, chance_);
}

void RotatingSets::copy_first_sets() {
  for (std::size_t data = 0; data < data_.size(); ++data) {
    std::vector<gpu::Workspace*> copies;
    for (std::size_t i = data_.size(); i < sets_.size(); ++i) {
      if (sets_[i].data == data) copies.push_back(&sets_[i].memory);
    }
    sets_[data].memory.copy_to(copies);
  }
}

void RotatingSets::keep_setup_scratch() {
  setup_scratch_.clear();
  for (std::size_t i = 0; i < data_.size() && i < sets_.size(); ++i) {
    setup_scratch_.emplace_back(executable().program());
    setup_scratch_.back().keep(sets_[i].memory);
  }
}

std::vector<std::size_t> RotatingSets::drawn_order() {
  std::vector<std::size_t> order(programs_in_order);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i % 2;
  std::ranges::shuffle(order, chance_);
  return order;
}

/// Programs that overlap and write the same outputs must run on the same data.
std::vector<std::size_t> RotatingSets::order_of(const gpu::TimedRun& run) {
  const bool is_one =
      plan_.kind == InputSets::AlternateByBatch ||
      (plan_.kind == InputSets::AlternateByProgram && run.spacing == gpu::Spacing::Overlapped);
  if (!is_one) return order_;
  return {static_cast<std::size_t>(chance_() & 1U)};
}

void RotatingSets::note_run(const std::vector<std::size_t>& order, std::size_t first, std::size_t programs) {
  for (std::size_t i = 0; i < std::min(programs, order.size()); ++i) {
    sets_[order[(first + i) % order.size()]].used = true;
  }
  last_set_ = order[(first + programs - 1) % order.size()];
  programs_run_ += programs;
}

/// A submission that uses every set begins with the same set each time, so that it can be submitted again as
/// it was recorded; a shorter one begins where the last one stopped.
gpu::Timing RotatingSets::time(gpu::TimedRun run, double timeout_s) {
  const std::size_t programs = static_cast<std::size_t>(run.warm) + static_cast<std::size_t>(run.batch);
  const std::vector<std::size_t> order = order_of(run);
  run.first_set = programs >= order.size() ? 0 : programs_run_ % order.size();
  note_run(order, run.first_set, programs);
  if (!recorded_ || recorded_->run != run || recorded_->order != order) {
    std::vector<gpu::Workspace*> memory;
    for (const std::size_t set : order) memory.push_back(&sets_[set].memory);
    recorded_.reset();  // before another is bound: see gpu::TimedBatch
    recorded_.emplace(Recorded{run, order, gpu::TimedBatch(executable(), memory, run)});
  }
  return recorded_->batch.submit(timeout_s);
}

std::vector<double> RotatingSets::dispatch_ns(double timeout_s) {
  note_run({0}, 0, 1);
  return executable().dispatch_ns(sets_.front().memory, timeout_s);
}

std::optional<double> RotatingSets::isolated_ns(int warm, double timeout_s) {
  recorded_.reset();
  const std::size_t timed = chance_() % sets_.size();
  const std::size_t other = sets_.size() - 1 - timed;
  sets_[other].used = true;
  note_run({timed}, 0, 1);
  const std::vector<Resource> written = data_.front().experiment->written_when_timed();
  return executable().isolated_ns(sets_[timed].memory,
                                  {.before = &sets_[other].memory,
                                   .warm = warm,
                                   .poisoned = written,
                                   .poison = static_cast<std::uint32_t>(chance_())},
                                  timeout_s);
}

double RotatingSets::setup_ns(double timeout_s) {
  return executable().setup_ns(sets_.front().memory, timeout_s);
}

/// The sets whose outputs are compared: each used set of a cold row; of a hot row, whose sets share their
/// outputs, the one with the data of the program that ran last.
std::vector<std::size_t> RotatingSets::written_sets() const {
  if (programs_run_ == 0) return {};
  if (!is_cold()) return {last_set_};
  std::vector<std::size_t> written;
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    if (sets_[i].used) written.push_back(i);
  }
  return written;
}

/// How many of these sets hold the outputs judged on their data: all, or those before the first wrong one.
std::size_t RotatingSets::count_right(const std::vector<std::size_t>& written) {
  std::size_t right = 0;
  for (std::size_t data = 0; data < data_.size(); ++data) {
    std::vector<const gpu::Workspace*> sets;
    for (const std::size_t set : written) {
      if (sets_[set].data == data) sets.push_back(&sets_[set].memory);
    }
    const std::size_t holding = data_[data].experiment->count_holding(sets, data_[data].judged);
    right += holding;
    if (holding < sets.size()) break;
  }
  return right;
}

/// Where two data sets alternate, one more program runs on the other data than the last one had: a program
/// that reuses an earlier answer is then wrong in one of the two comparisons.
bool RotatingSets::is_right_with_other_data(double timeout_s) {
  recorded_.reset();
  last_set_ = 1 - last_set_;
  sets_[last_set_].used = true;
  executable().time(sets_[last_set_].memory, {.batch = 1}, timeout_s);
  return count_right({last_set_}) == 1;
}

bool RotatingSets::close(double timeout_s) {
  const std::vector<std::size_t> written = written_sets();
  const std::size_t rights = count_right(written);
  bool right = rights == written.size();
  const std::size_t compared = right ? rights : rights + 1;
  if (right && !written.empty() && alternates()) right = is_right_with_other_data(timeout_s);
  verified_pct_ =
      written.empty() ? 0 : 100 * static_cast<double>(compared) / static_cast<double>(written.size());
  changed_scratch_.clear();
  for (const Set& set : sets_) {
    if (set.used && changed_scratch_.empty())
      changed_scratch_ = setup_scratch_[set.data].changed_in(set.memory).value_or("");
  }
  recorded_.reset();
  sets_.clear();
  return right && changed_scratch_.empty();
}

}  // namespace assay
