#pragma once

#include "harness/gpu/vk.h"

#include <memory>
#include <span>

namespace assay::gpu {

struct Buffer;

/// Moves bytes between the host and buffers that the host cannot see, through one host-visible buffer that
/// grows up to `largest_chunk` and is used again; what is larger goes in pieces.
class Staging {
 public:
  static constexpr std::uint64_t largest_chunk = std::uint64_t{64} << 20;

  explicit Staging(Device::State& device, std::uint64_t chunk = largest_chunk);
  ~Staging();

  void upload(const Buffer& to, std::span<const std::byte> bytes);
  void download(const Buffer& from, std::span<std::byte> bytes);

 private:
  struct Area;
  Area& area(std::uint64_t wanted);
  void copy(VkBuffer from, VkBuffer to, const VkBufferCopy& region);

  Device::State& device_;
  std::uint64_t chunk_;
  std::unique_ptr<Area> area_;
};

}  // namespace assay::gpu
