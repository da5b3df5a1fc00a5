#include "harness/gpu/staging.h"

#include "harness/gpu/barrier.h"
#include "harness/gpu/memory.h"
#include "harness/gpu/submission.h"

#include <algorithm>
#include <cstring>

namespace assay::gpu {
namespace {

/// A copy of 64 MiB takes milliseconds; one that takes this long hangs.
constexpr double timeout_s = 60;

}  // namespace

struct Staging::Area {
  Buffer buffer;
  MemoryBlock block;
};

Staging::Staging(Device::State& device, std::uint64_t chunk) : device_(device), chunk_(chunk) {}
Staging::~Staging() = default;

Staging::Area& Staging::area(std::uint64_t wanted) {
  const std::uint64_t bytes = std::min(wanted, chunk_);
  if (area_ == nullptr || area_->buffer.bytes < bytes) {
    area_.reset();
    Buffer buffer = create_buffer(device_, "staging", bytes);
    const VkMemoryRequirements needs = requirements(device_, buffer);
    MemoryBlock block(device_, needs.size, staging_memory_type(device_.physical.memory, needs.memoryTypeBits),
                      "staging");
    area_ = std::make_unique<Area>(Area{std::move(buffer), std::move(block)});
    bind(device_, area_->buffer, area_->block, 0);
  }
  return *area_;
}

void Staging::copy(VkBuffer from, VkBuffer to, const VkBufferCopy& region) {
  Submission submission(device_, "copying between host and device");
  barrier(device_.table, submission.commands(), Scope::Anything, Scope::Transfer);
  device_.table.vk.vkCmdCopyBuffer(submission.commands(), from, to, 1, &region);
  barrier(device_.table, submission.commands(), Scope::Transfer, Scope::Host);
  submission.submit_and_wait(timeout_s);
}

void Staging::upload(const Buffer& to, std::span<const std::byte> bytes) {
  for (std::uint64_t done = 0; done < bytes.size();) {
    Area& staging = area(bytes.size() - done);
    const std::uint64_t piece = std::min<std::uint64_t>(bytes.size() - done, staging.buffer.bytes);
    std::memcpy(staging.block.mapped(), bytes.data() + done, piece);
    staging.block.flush(0, piece);
    copy(staging.buffer.handle.get(), to.handle.get(), {.srcOffset = 0, .dstOffset = done, .size = piece});
    done += piece;
  }
}

void Staging::download(const Buffer& from, std::span<std::byte> bytes) {
  for (std::uint64_t done = 0; done < bytes.size();) {
    Area& staging = area(bytes.size() - done);
    const std::uint64_t piece = std::min<std::uint64_t>(bytes.size() - done, staging.buffer.bytes);
    copy(from.handle.get(), staging.buffer.handle.get(), {.srcOffset = done, .dstOffset = 0, .size = piece});
    staging.block.invalidate(0, piece);
    std::memcpy(bytes.data() + done, staging.block.mapped(), piece);
    done += piece;
  }
}

}  // namespace assay::gpu
