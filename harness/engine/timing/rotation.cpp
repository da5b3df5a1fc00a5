#include "harness/engine/timing/rotation.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

constexpr std::uint64_t unknown_cache_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t turns_of_cache = 2;
constexpr std::uint64_t most_sets = 2048;  // each is an allocation of its own, of which devices give 4096

double megabytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

std::int64_t elements_of(const std::vector<HostTensor>& tensors) {
  std::int64_t sum = 0;
  for (const HostTensor& tensor : tensors) sum += tensor.numel();
  return sum;
}

}  // namespace

SetCount cold_sets(std::int64_t set_bytes, std::uint64_t cache_bytes, std::uint64_t device_memory_bytes) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(set_bytes, 1));
  const std::uint64_t wanted = turns_of_cache * (cache_bytes > 0 ? cache_bytes : unknown_cache_bytes);
  const std::uint64_t sets = std::max<std::uint64_t>(wanted / bytes + 1, 2);
  if (sets > most_sets) {
    return {.refusal =
                fmt::format("a cold row needs sets of tensors that are {:.3g} MB together, twice the cache; "
                            "{} sets of {} bytes, the most that are made, are {:.3g} MB",
                            megabytes(wanted), most_sets, bytes, megabytes(most_sets * bytes))};
  }
  if (sets * bytes > device_memory_bytes / 2) {
    return {.refusal = fmt::format("a cold row needs {} sets of tensors of {} bytes: more than half of the "
                                   "device's {:.4g} MB",
                                   sets, bytes, megabytes(device_memory_bytes))};
  }
  return {.sets = static_cast<int>(sets)};
}

void RotatingSets::open() {
  recorded_.reset();
  sets_.clear();
  programs_run_ = 0;
  sets_.push_back(experiment_->fresh_workspace(Poison::B));
  for (int i = 1; i < count_; ++i) {
    sets_.push_back(experiment_->empty_workspace());
    sets_.back().copy_from(sets_.front());
  }
  setup_scratch_.emplace(experiment_->executable().program());
  setup_scratch_->keep(sets_.front());
  memory_bytes_ = 0;
  for (const gpu::Workspace& set : sets_) memory_bytes_ += set.memory_bytes();
  if (program_hash_.empty()) program_hash_ = experiment_->executable().program_hash(sets_.front());
}

/// Submissions that use every set begin with the first one each time, so that they are the same; shorter ones
/// go on where the last one stopped.
std::size_t RotatingSets::first_set(std::size_t programs) const {
  return programs >= sets_.size() ? 0 : programs_run_ % sets_.size();
}

gpu::Timing RotatingSets::time(gpu::TimedRun run, double timeout_s) {
  const std::size_t programs = static_cast<std::size_t>(run.warm) + static_cast<std::size_t>(run.batch);
  run.first_set = first_set(programs);
  programs_run_ += programs;
  if (!recorded_ || recorded_->run != run) {
    std::vector<gpu::Workspace*> sets;
    for (gpu::Workspace& set : sets_) sets.push_back(&set);
    recorded_.reset();
    recorded_.emplace(Recorded{run, gpu::TimedBatch(experiment_->executable(), sets, run)});
  }
  return recorded_->batch.submit(timeout_s);
}

std::vector<double> RotatingSets::dispatch_ns(double timeout_s) {
  return experiment_->executable().dispatch_ns(sets_.front(), timeout_s);
}

double RotatingSets::setup_ns(double timeout_s) {
  return experiment_->executable().setup_ns(sets_.front(), timeout_s);
}

bool RotatingSets::close(const Answer& judged) {
  const std::size_t used = std::min(sets_.size(), programs_run_);
  std::int64_t compared = 0;
  bool right = true;
  for (std::size_t i = 0; i < used && right; ++i) {
    right = same_answer(experiment_->outputs_of(sets_[i]), judged);
    compared += elements_of(*judged);
  }
  const double all = static_cast<double>(elements_of(*judged)) * static_cast<double>(used);
  verified_pct_ = all > 0 ? 100 * static_cast<double>(compared) / all : 0;
  changed_scratch_.clear();
  for (std::size_t i = 0; i < used && changed_scratch_.empty(); ++i) {
    changed_scratch_ = setup_scratch_->changed_in(sets_[i]).value_or("");
  }
  recorded_.reset();
  sets_.clear();
  return right && changed_scratch_.empty();
}

}  // namespace assay
