#pragma once

#include "harness/gpu/memory/memory.h"

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <random>
#include <string_view>

namespace assay::gpu {

/// A block of memory that goes back to its pool.
using PooledBlock = std::shared_ptr<const MemoryBlock>;

/// Device memory of workspaces that are gone, kept for the next ones: drivers take milliseconds to allocate
/// and to free hundreds of megabytes, and a row needs new workspaces for each of its blocks. What it gives
/// may hold anything. Any thread may call it; it must outlive its blocks.
class MemoryPool final : public Device::State::Attachment {
 public:
  /// `most_kept`: bytes of a heap that it keeps at most; an eighth of the heap if that is less.
  MemoryPool(Device::State& device, std::uint64_t most_kept);

  /// A block of that type with `bytes` or up to twice as many. Throws OutOfMemory as MemoryBlock does.
  PooledBlock take(std::uint64_t bytes, std::uint32_t type, std::string_view what);
  /// Frees what is kept.
  void clear();
  std::uint64_t kept_bytes() const;

  /// An offset of at most `room` for what begins in a block, drawn by chance: the place of a row's tensors
  /// differs between its blocks, as it does where a driver allocates. A multiple of `alignment`.
  std::uint64_t drawn_offset(std::uint64_t room, std::uint64_t alignment);

 private:
  struct Kept {
    std::unique_ptr<MemoryBlock> block;
    std::uint32_t type = 0;
  };

  std::uint32_t heap_of(std::uint32_t type) const;
  std::unique_ptr<MemoryBlock> take_kept(std::uint64_t bytes, std::uint32_t type);
  void give_back(std::unique_ptr<MemoryBlock> block, std::uint32_t type);

  Device::State& device_;
  std::uint64_t most_kept_;
  mutable std::mutex mutex_;
  std::list<Kept> kept_;                                         ///< the one that came last is at the end
  std::array<std::uint64_t, VK_MAX_MEMORY_HEAPS> kept_bytes_{};  ///< of each heap
  std::minstd_rand chance_;
};

/// The device's own pool, made when it is first needed. It keeps 4 GiB of a heap at most.
MemoryPool& memory_pool_of(Device::State& device);

}  // namespace assay::gpu
