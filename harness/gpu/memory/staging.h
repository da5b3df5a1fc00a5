#pragma once

#include "harness/gpu/device/device.h"

#include <functional>
#include <memory>
#include <span>

namespace assay::gpu {

struct Buffer;
struct Image;

/// Moves bytes between the host and memory that the host cannot see or cannot read linearly (images), through
/// one reused host-visible buffer that grows up to `largest_chunk`; larger transfers go in pieces.
class Staging final : public Device::State::Attachment {
 public:
  static constexpr std::uint64_t largest_chunk = std::uint64_t{64} << 20;

  /// `chunk` is the largest size of the buffer in bytes, at least one texel (16).
  explicit Staging(Device::State& device, std::uint64_t chunk = largest_chunk);
  ~Staging() override;

  void upload(const Buffer& to, std::span<const std::byte> bytes);
  void download(const Buffer& from, std::span<std::byte> bytes, std::uint64_t offset = 0);
  /// The bytes of an image are its texels, x fastest, then y, then z.
  void upload(const Image& to, std::span<const std::byte> bytes);
  void download(const Image& from, std::span<std::byte> bytes);

 private:
  struct Area;
  /// Records one copy between the start of the staging buffer and the other side.
  using Copy = std::function<void(VkCommandBuffer commands, VkBuffer staging)>;

  Area& area(std::uint64_t wanted);
  /// How many of the `left` bytes the next copy may move.
  std::uint64_t room(std::uint64_t left) const;
  void send(std::span<const std::byte> piece, const Copy& copy);
  void receive(std::span<std::byte> piece, const Copy& copy);
  void run(VkBuffer staging, const Copy& copy);

  Device::State& device_;
  std::uint64_t chunk_;
  std::unique_ptr<Area> area_;
};

/// The device's own staging buffer, made when it is first needed.
Staging& staging_of(Device::State& device);

/// A box of texels that one copy can move.
struct Box {
  VkOffset3D offset{};
  VkExtent3D extent{};
  std::uint64_t texels() const;
};
/// The largest box that begins at texel `first`, in the order of an image's bytes, and has at most `most`
/// (one or more) texels: whole slices, else whole rows of one slice, else a part of one row.
Box box_at(const VkExtent3D& image, std::uint64_t first, std::uint64_t most);

}  // namespace assay::gpu
