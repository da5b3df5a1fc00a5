#pragma once

#include "harness/gpu/memory/memory.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
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

/// What a dispatch is pointed at: `buffer` or `image`, as `type` says.
struct Descriptor {
  VkDescriptorType type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  VkDescriptorBufferInfo buffer{};
  VkDescriptorImageInfo image{};
};

/// A resource of a program is a buffer or an image, as its form says. Both lie in the same blocks; they
/// differ in how they are bound (`descriptor_of`) and in how bytes get in and out.
struct Workspace::State {
  using Allocation = std::variant<Buffer, Image>;
  /// What is another workspace's: nothing of `lender` null.
  struct Loan {
    const State* lender = nullptr;
    std::vector<Resource> resources;

    bool has(Resource resource) const { return std::ranges::find(resources, resource) != resources.end(); }
  };

  /// Has no memory until place() gives it some.
  State(Device::State& device, const Program& program, std::span<const Physical> tensors, std::uint32_t guard,
        Loan loan);
  /// Gives workspaces of one device their memory, all together in as few blocks as possible.
  static void place(std::span<State* const> states);

  Device::State& device;
  std::uint64_t id;             ///< never used twice by a device
  std::uint32_t guard;          ///< bytes before and after the data of each buffer
  std::uint64_t own_bytes = 0;  ///< of its blocks, those that it fills
  /// Outlive what lies in them. Other workspaces may have a part.
  std::vector<std::shared_ptr<const MemoryBlock>> blocks;
  Loan loan;
  std::vector<std::optional<Allocation>> tensors;  ///< nothing: the lender's
  std::vector<std::optional<Allocation>>
      scratch;  ///< the same; nothing also where it lies in another's memory
  std::vector<std::optional<std::uint32_t>> in_memory_of;  ///< per scratch: Scratch::in_memory_of

  /// Throws std::logic_error for a resource that the program does not have.
  const Allocation& at(Resource resource) const;
  Descriptor descriptor_of(const Binding& binding) const;
  /// Property flags of the type of memory that it lies in.
  VkMemoryPropertyFlags memory_of(Resource resource) const;
  /// Records what fills the data of a resource, its guards left out, with a word: a texture's texels with its
  /// bits.
  void record_fill(VkCommandBuffer commands, Resource resource, std::uint32_t word) const;
  /// Every tensor, and every scratch with memory of its own.
  std::vector<Resource> resources() const;
  struct Copy {
    const Allocation *from, *to;
  };
  /// What is copied, but for what is lent to it, to another of the same program. Throws std::logic_error for
  /// one of another program or device.
  std::vector<Copy> copies(const State& to, std::span<const Resource> copied) const;

 private:
  void add(Resource resource, const std::string& what, const Physical& physical);
  std::vector<Allocation*> own(bool images);
};

}  // namespace assay::gpu
