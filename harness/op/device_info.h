#pragma once

#include "harness/tensor/dtype.h"
#include "harness/tensor/form.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A device feature that an impl may need; its name is what UNSUPPORTED(...) prints.
enum class Feature : std::uint8_t {
  Storage8,   ///< 8-bit storage buffers
  Storage16,  ///< 16-bit storage buffers
  Int8,       ///< 8-bit arithmetic
  Int16,
  Float16,  ///< 16-bit float arithmetic
  Int64,
  DotProduct,  ///< VK_KHR_shader_integer_dot_product, packed 4x8 bit
  SubgroupArithmetic,
  SubgroupShuffle,
  SubgroupSizeControl,
  FullSubgroups,   ///< a dispatch of any size may demand `subgroup_size`, and that all subgroups are full
  RoundsToEven32,  ///< a shader may demand that float32 results are rounded to nearest even
  CooperativeMatrixKhr,
  CooperativeMatrixNv,
};

std::string_view name_of(Feature feature);  ///< "storageBuffer8BitAccess", "shaderIntegerDotProduct", ...

/// A kind of texture that a device reads, writes (as a storage image) and copies.
struct TextureSupport {
  Storage storage = Storage::Texture3D;  ///< never Buffer
  DType dtype = DType::F32;
  std::array<std::uint32_t, 3> max_extent{};  ///< texels in x, y, z
  std::uint64_t max_bytes = 0;                ///< of one texture
  bool sampled = false;                       ///< shaders may read it through a sampler too
};

/// What is known of a Vulkan device: plain data, so that ops can ask it without seeing Vulkan.
struct DeviceInfo {
  std::string name;         ///< "NVIDIA H100 80GB HBM3"
  std::string type;         ///< "discrete", "integrated", "virtual", "cpu", "other"
  std::string driver_name;  ///< "NVIDIA"
  std::string driver_info;  ///< "580.159.04"
  std::string api_version;  ///< "1.4.312"
  std::uint32_t vendor_id = 0;
  std::uint32_t device_id = 0;
  std::string uuid;  ///< 32 hex digits
  std::vector<Feature> features;
  std::vector<std::string> extensions;
  bool dot_product_accelerated = false;  ///< integerDotProduct4x8BitPackedSignedAccelerated

  std::array<std::uint32_t, 3> max_workgroup_count{65535, 65535, 65535};
  std::array<std::uint32_t, 3> max_workgroup_size{128, 128, 64};
  std::uint32_t max_workgroup_invocations = 128;
  std::uint32_t max_shared_bytes = 16384;
  std::uint32_t max_push_constant_bytes = 128;
  std::uint64_t max_storage_buffer_range = 1ULL << 27;
  std::uint32_t max_storage_buffers_per_stage = 4;
  std::uint32_t max_storage_images_per_stage = 4;
  std::uint32_t max_sampled_images_per_stage = 16;  ///< with their samplers
  std::uint32_t max_image_3d = 256;
  std::uint32_t max_image_2d = 4096;
  std::vector<TextureSupport> textures;
  std::uint32_t subgroup_size = 1;
  std::uint32_t min_subgroup_size = 1;
  std::uint32_t max_subgroup_size = 1;
  double timestamp_period_ns = 0;
  std::uint32_t timestamp_valid_bits = 0;
  std::uint64_t device_memory_bytes = 0;  ///< sum of device-local heaps

  bool has(Feature feature) const;
  /// The host's own processors, lavapipe say: the device shares them and their memory with everything else.
  bool is_cpu() const { return type == "cpu"; }
  /// Null when the device has no such textures.
  const TextureSupport* texture(Storage storage, DType dtype) const;
};

}  // namespace assay
