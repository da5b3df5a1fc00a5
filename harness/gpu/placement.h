#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::gpu {

/// What one buffer needs of memory.
struct PlacementNeed {
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;  ///< a power of two
};

/// Where it goes.
struct Placement {
  std::size_t block = 0;
  std::uint64_t offset = 0;
};

struct PlacementPlan {
  std::vector<std::uint64_t> block_bytes;
  std::vector<Placement> places;  ///< one per need, in order
};

/// Puts buffers one after the other into as few blocks as `max_block` bytes each allow: drivers are slow at
/// allocating and limit how often it may be done. A buffer larger than `max_block` gets a block of its own,
/// which the caller has to refuse.
PlacementPlan place(std::span<const PlacementNeed> needs, std::uint64_t max_block);

}  // namespace assay::gpu
