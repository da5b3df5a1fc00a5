#include "harness/gpu/memory/memory_pool.h"

#include "harness/gpu/memory/kept_memory.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace assay::gpu {
namespace {

constexpr std::uint64_t most_kept_of_any = std::uint64_t{4} << 30U;
constexpr std::uint64_t share_of_heap = 8;

}  // namespace

MemoryPool::MemoryPool(Device::State& device, std::uint64_t most_kept)
    : device_(device), most_kept_(most_kept) {}

std::uint64_t MemoryPool::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return std::accumulate(kept_bytes_.begin(), kept_bytes_.end(), std::uint64_t{0});
}

void MemoryPool::clear() {
  const std::lock_guard lock(mutex_);
  kept_.clear();
  kept_bytes_.fill(0);
}

std::uint32_t MemoryPool::heap_of(std::uint32_t type) const {
  return device_.physical.memory.memoryTypes[type].heapIndex;
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
  kept_bytes_.at(heap_of(type)) -= block->bytes();
  kept_.erase(best);
  return block;
}

PooledBlock MemoryPool::take(std::uint64_t bytes, std::uint32_t type, std::string_view what) {
  std::unique_ptr<MemoryBlock> block = take_kept(bytes, type);
  if (block == nullptr) block = std::make_unique<MemoryBlock>(device_, bytes, type, what);
  const auto back = [this, type](MemoryBlock* one) { give_back(std::unique_ptr<MemoryBlock>(one), type); };
  return {block.release(), back};
}

void MemoryPool::give_back(std::unique_ptr<MemoryBlock> block, std::uint32_t type) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t bytes = block->bytes();
  const std::uint32_t heap = heap_of(type);
  const std::uint64_t most =
      std::min<std::uint64_t>(most_kept_, device_.physical.memory.memoryHeaps[heap].size / share_of_heap);
  if (bytes > most) return;
  std::uint64_t& kept = kept_bytes_.at(heap);
  while (kept > most - bytes) {
    const auto oldest =
        std::ranges::find_if(kept_, [&](const Kept& one) { return heap_of(one.type) == heap; });
    kept -= oldest->block->bytes();
    kept_.erase(oldest);
  }
  kept += bytes;
  kept_.push_back({std::move(block), type});
}

std::uint64_t MemoryPool::drawn_offset(std::uint64_t room, std::uint64_t alignment) {
  const std::lock_guard lock(mutex_);
  return std::uniform_int_distribution<std::uint64_t>(0, room / alignment)(chance_) * alignment;
}

MemoryPool& memory_pool_of(Device::State& device) {
  std::call_once(device.memory_pool_made,
                 [&] { device.memory_pool = std::make_unique<MemoryPool>(device, most_kept_of_any); });
  return static_cast<MemoryPool&>(*device.memory_pool);
}

void free_kept_memory(Device::State& device) {
  memory_pool_of(device).clear();
}

}  // namespace assay::gpu
