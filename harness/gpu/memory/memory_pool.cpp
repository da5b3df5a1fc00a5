#include "harness/gpu/memory/memory_pool.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace assay::gpu {
namespace {

constexpr std::uint64_t most_kept_of_any = std::uint64_t{4} << 30U;
constexpr std::uint64_t share_of_heap = 8;

std::uint64_t largest_heap(const VkPhysicalDeviceMemoryProperties& memory) {
  std::uint64_t largest = 0;
  for (const VkMemoryHeap& heap : std::span(memory.memoryHeaps, memory.memoryHeapCount)) {
    largest = std::max<std::uint64_t>(largest, heap.size);
  }
  return largest;
}

}  // namespace

MemoryPool::MemoryPool(Device::State& device, std::uint64_t most_kept)
    : device_(device), most_kept_(most_kept) {}

std::uint64_t MemoryPool::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_bytes_;
}

void MemoryPool::clear() {
  const std::lock_guard lock(mutex_);
  kept_.clear();
  kept_bytes_ = 0;
}

/// The smallest that is large enough.
std::unique_ptr<MemoryBlock> MemoryPool::take_kept(std::uint64_t bytes, std::uint32_t type) {
  const std::lock_guard lock(mutex_);
  auto best = kept_.end();
  for (auto one = kept_.begin(); one != kept_.end(); ++one) {
    const std::uint64_t has = one->block->bytes();
    if (one->type != type || has < bytes || has / 2 > bytes) continue;
    if (best == kept_.end() || has < best->block->bytes()) best = one;
  }
  if (best == kept_.end()) return nullptr;
  std::unique_ptr<MemoryBlock> block = std::move(best->block);
  kept_bytes_ -= block->bytes();
  kept_.erase(best);
  return block;
}

std::unique_ptr<MemoryBlock> MemoryPool::allocate(std::uint64_t bytes, std::uint32_t type,
                                                  std::string_view what) {
  try {
    return std::make_unique<MemoryBlock>(device_, bytes, type, what);
  } catch (const OutOfMemory&) {
    if (kept_bytes() == 0) throw;
  }
  clear();
  return std::make_unique<MemoryBlock>(device_, bytes, type, what);
}

PooledBlock MemoryPool::take(std::uint64_t bytes, std::uint32_t type, std::string_view what) {
  std::unique_ptr<MemoryBlock> block = take_kept(bytes, type);
  if (block == nullptr) block = allocate(bytes, type, what);
  const auto back = [this, type](MemoryBlock* one) { give_back(std::unique_ptr<MemoryBlock>(one), type); };
  return {block.release(), back};
}

void MemoryPool::give_back(std::unique_ptr<MemoryBlock> block, std::uint32_t type) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t bytes = block->bytes();
  if (bytes > most_kept_) return;
  while (kept_bytes_ > most_kept_ - bytes) {
    kept_bytes_ -= kept_.front().block->bytes();
    kept_.pop_front();
  }
  kept_bytes_ += bytes;
  kept_.push_back({std::move(block), type});
}

std::uint64_t MemoryPool::drawn_offset(std::uint64_t room, std::uint64_t alignment) {
  const std::lock_guard lock(mutex_);
  return std::uniform_int_distribution<std::uint64_t>(0, room / alignment)(chance_) * alignment;
}

MemoryPool& memory_pool_of(Device::State& device) {
  std::call_once(device.memory_pool_made, [&] {
    const std::uint64_t most =
        std::min(largest_heap(device.physical.memory) / share_of_heap, most_kept_of_any);
    device.memory_pool = std::make_unique<MemoryPool>(device, most);
  });
  return static_cast<MemoryPool&>(*device.memory_pool);
}

}  // namespace assay::gpu
