#pragma once

#include "harness/gpu/device/device.h"

#include <functional>
#include <memory>
#include <span>

namespace assay::gpu {

/// One VkDeviceMemory, mapped for its whole lifetime when the host can see it.
class MemoryBlock {
 public:
  /// Throws OutOfMemory, once the device's memory pool keeps nothing any more; `what` says in its message
  /// what the memory is for ("the workspace of 3 buffers").
  MemoryBlock(Device::State& device, std::uint64_t bytes, std::uint32_t type, std::string_view what);
  ~MemoryBlock();
  MemoryBlock(MemoryBlock&& other) noexcept;
  MemoryBlock& operator=(MemoryBlock&&) = delete;

  VkDeviceMemory handle() const { return memory_.get(); }
  std::uint64_t bytes() const { return bytes_; }
  VkMemoryPropertyFlags properties() const { return properties_; }  ///< of its memory type
  /// The mapped memory; null when the host cannot see it.
  std::byte* mapped() const { return mapped_; }
  /// The mapped memory; null also when it is not cached, because the host's reads would crawl.
  std::byte* mapped_fast() const {
    return properties_ & VK_MEMORY_PROPERTY_HOST_CACHED_BIT ? mapped_ : nullptr;
  }
  /// flush() makes host writes to [offset, offset + size) visible to the device, invalidate() device writes
  /// to the host. Neither does anything for coherent memory.
  void flush(std::uint64_t offset, std::uint64_t size) const;
  void invalidate(std::uint64_t offset, std::uint64_t size) const;

 private:
  VkMappedMemoryRange range(std::uint64_t offset, std::uint64_t size) const;

  Device::State* device_;
  std::uint64_t bytes_;
  VkMemoryPropertyFlags properties_ = 0;
  Handle<VkDeviceMemory> memory_;
  std::byte* mapped_ = nullptr;
};

/// A buffer and the part of a block it is bound to.
struct Buffer {
  std::string name;
  std::uint64_t bytes = 0;
  Handle<VkBuffer> handle;
  const MemoryBlock* block = nullptr;
  std::uint64_t offset = 0;
};

enum class BufferUse : std::uint8_t { Storage, Uniform };

/// Creates a storage or uniform buffer, for transfers too, without memory.
Buffer create_buffer(Device::State& device, std::string name, std::uint64_t bytes,
                     BufferUse use = BufferUse::Storage);
VkMemoryRequirements requirements(const Device::State& device, const Buffer& buffer);
void bind(const Device::State& device, Buffer& buffer, const MemoryBlock& block, std::uint64_t offset);

/// The best memory type for tensors among `allowed` (one bit per type): device-local memory that the host
/// reads at full speed (CPU and integrated devices: no copies needed), else device-local, else any.
std::uint32_t tensor_memory_type(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed);
/// The best memory type for small buffers that the host writes once and shaders read: host-visible,
/// preferably device-local, then coherent.
std::uint32_t uniform_memory_type(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed);
/// The best memory type for staging among `allowed`: host-visible, preferably cached (reading uncached memory
/// is slow), then coherent.
std::uint32_t staging_memory_type(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed);

/// A texture and the memory block it is bound to. Its image layout is GENERAL from prepare_images() on.
struct Image {
  std::string name;
  std::uint64_t bytes = 0;        ///< of all texels, as read and written
  std::uint64_t texel_bytes = 0;  ///< of one texel: four lanes
  VkExtent3D extent{};
  VkFormat format = VK_FORMAT_UNDEFINED;
  VkImageViewType view_type = VK_IMAGE_VIEW_TYPE_3D;
  Handle<VkImage> handle;
  Handle<VkImageView> view;            ///< null until it is bound
  const MemoryBlock* block = nullptr;  ///< null until it is bound
};

/// The whole of an image: it has one mip level and one array layer.
inline constexpr VkImageSubresourceRange whole_image{.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
                                                     .baseMipLevel = 0,
                                                     .levelCount = 1,
                                                     .baseArrayLayer = 0,
                                                     .layerCount = 1};

inline constexpr VkImageSubresourceLayers whole_layers{
    .aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .mipLevel = 0, .baseArrayLayer = 0, .layerCount = 1};

/// Creates a storage and transfer image for a texture form, without memory; shaders may sample it if the
/// device can. Throws Error when the device has no such textures.
Image create_image(Device::State& device, std::string name, const Physical& physical);
VkMemoryRequirements requirements(const Device::State& device, const Image& image);
void bind(const Device::State& device, Image& image, const MemoryBlock& block, std::uint64_t offset);

/// The sampler of all bindings with access Sampled: nearest texel, clamped to the edge, coordinates from 0 to
/// 1. The device makes it when it is first needed, and keeps it.
VkSampler nearest_sampler(Device::State& device);

/// Brings bound images into the layout GENERAL, in which they stay. Their texels are undefined.
void prepare_images(Device::State& device, std::span<const Image* const> images);

/// Whether an image is copied to another only through a buffer (Staging::copy), as it has more than 2048
/// slices. vkCmdCopyImage of 2049 lost an H200 (driver 580.159.04), also in parts, where copies from and to
/// buffers and clears of 8192 were right.
bool copies_through_buffer(const Image& image);
/// Records the copy of an image's texels to another of its extent and format, both in the layout GENERAL.
void record_copy(const DeviceTable& table, VkCommandBuffer commands, const Image& from, const Image& to);

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
  /// Copies an image to another of its extent and format.
  void copy(const Image& from, const Image& to);

 private:
  struct Area;
  /// Records one copy between the start of the staging buffer and the other side.
  using Copy = std::function<void(VkCommandBuffer commands, VkBuffer staging)>;

  Area& area(std::uint64_t wanted);
  /// How many of the `left` bytes the next copy may move.
  std::uint64_t room(std::uint64_t left) const;
  void send(std::span<const std::byte> piece, const Copy& copy);
  void receive(std::span<std::byte> piece, const Copy& copy);
  void run(VkBuffer staging, const char* doing, const Copy& copy);

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
