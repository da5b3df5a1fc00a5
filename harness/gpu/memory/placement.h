#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::gpu {

/// The memory that one resource needs.
struct PlacementNeed {
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;  ///< a power of two
  bool image = false;           ///< of optimal tiling
};

/// Where a resource goes.
struct Placement {
  std::size_t block = 0;
  std::uint64_t offset = 0;
};

struct PlacementPlan {
  std::vector<std::uint64_t> block_bytes;
  std::vector<Placement> places;  ///< one per need, in order
};

/// Puts resources one after the other into as few blocks of at most `max_block` bytes as possible: drivers
/// allocate slowly and limit the number of allocations. A resource larger than `max_block` gets a block of
/// its own, which the caller has to refuse. An image and a buffer never share an aligned page of
/// `image_granularity` bytes (a power of two): Vulkan forbids it.
PlacementPlan place(std::span<const PlacementNeed> needs, std::uint64_t max_block,
                    std::uint64_t image_granularity = 1);

}  // namespace assay::gpu
