#include "harness/engine/timing/input_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace assay {

namespace {

constexpr std::uint64_t unknown_cache_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t turns_of_cache = 2;
constexpr std::uint64_t most_sets = 2048;  // each is an allocation of its own, and devices allow 4096

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
  const std::uint64_t emptying = (sets + 1) / 2;
  const std::uint64_t all = sets + emptying + 1;
  if (all * bytes > device_memory_bytes / 2) {
    return {.kind = InputSets::Cold,
            .refusal = fmt::format("a cold row needs {} sets of tensors of {} bytes: more than half of the "
                                   "device's {:.4g} MB",
                                   all, bytes, megabytes(device_memory_bytes))};
  }
  return {.kind = InputSets::Cold, .sets = static_cast<int>(sets), .emptying = static_cast<int>(emptying)};
}

SetPlan hot_sets(std::int64_t set_bytes, std::uint64_t cache_bytes, std::uint64_t device_memory_bytes) {
  const std::uint64_t both = 2 * static_cast<std::uint64_t>(std::max<std::int64_t>(set_bytes, 1));
  if (both > device_memory_bytes / 2) return {};
  const bool fit = both <= known_or_large(cache_bytes) / 2;
  return {.kind = fit ? InputSets::AlternateByProgram : InputSets::AlternateByBatch, .sets = 2};
}

namespace {

constexpr std::size_t groups = 8;  // sets change places within their group only

}  // namespace

ColdOrder::ColdOrder(std::size_t sets, std::mt19937_64& chance) : chance_(&chance), order_(sets) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::shuffle(order_, chance);
}

void ColdOrder::draw_round() {
  const std::size_t most = std::max<std::size_t>(order_.size() / groups, 1);
  for (std::size_t first = 0; first < order_.size(); first += most) {
    const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(most, order_.size() - first));
    std::shuffle(begin, end, *chance_);
  }
}

std::vector<std::size_t> ColdOrder::take(std::size_t programs) {
  std::vector<std::size_t> taken;
  taken.reserve(programs);
  while (taken.size() < programs) {
    if (next_ == order_.size()) {
      draw_round();
      next_ = 0;
    }
    taken.push_back(order_[next_++]);
  }
  return taken;
}

}  // namespace assay
