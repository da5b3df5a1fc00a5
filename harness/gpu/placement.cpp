#include "harness/gpu/placement.h"

namespace assay::gpu {
namespace {

constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

PlacementPlan place(std::span<const PlacementNeed> needs, std::uint64_t max_block) {
  PlacementPlan plan;
  for (const PlacementNeed& need : needs) {
    std::uint64_t offset = 0;
    if (!plan.block_bytes.empty()) {
      offset = align_up(plan.block_bytes.back(), need.alignment);
    }
    // Compared without adding: sizes may be close to 2^64.
    const bool fits = need.bytes <= max_block && offset <= max_block - need.bytes;
    if (plan.block_bytes.empty() || !fits) {
      plan.block_bytes.push_back(0);
      offset = 0;
    }
    plan.block_bytes.back() = offset + need.bytes;
    plan.places.push_back({.block = plan.block_bytes.size() - 1, .offset = offset});
  }
  return plan;
}

}  // namespace assay::gpu
