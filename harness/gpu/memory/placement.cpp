#include "harness/gpu/memory/placement.h"

#include <algorithm>

namespace assay::gpu {
namespace {

constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

PlacementPlan place(std::span<const PlacementNeed> needs, std::uint64_t max_block,
                    std::uint64_t image_granularity) {
  PlacementPlan plan;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const PlacementNeed& need = needs[i];
    std::uint64_t offset = 0;
    if (i > 0) {
      const bool kind_changes = need.image != needs[i - 1].image;
      const std::uint64_t alignment = std::max(need.alignment, kind_changes ? image_granularity : 1);
      offset = align_up(plan.block_bytes.back(), alignment);
    }
    // Compared without adding: sizes may be close to 2^64.
    const bool fits = need.bytes <= max_block && offset <= max_block - need.bytes;
    if (i == 0 || !fits) {
      plan.block_bytes.push_back(0);
      offset = 0;
    }
    plan.block_bytes.back() = offset + need.bytes;
    plan.places.push_back({.block = plan.block_bytes.size() - 1, .offset = offset});
  }
  return plan;
}

}  // namespace assay::gpu
