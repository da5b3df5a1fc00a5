#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::gpu {

/// What one resource needs of memory.
struct PlacementNeed {
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;  ///< a power of two
  bool image = false;           ///< of optimal tiling
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

/// Puts resources one after the other into as few blocks as `max_block` bytes each allow: drivers are slow at
/// allocating and limit how often it may be done. A resource larger than `max_block` gets a block of its own,
/// which the caller has to refuse. An image and a buffer never share `image_granularity` aligned bytes (a
/// power of two): where they do, a device may mix them up.
PlacementPlan place(std::span<const PlacementNeed> needs, std::uint64_t max_block,
                    std::uint64_t image_granularity = 1);

}  // namespace assay::gpu
