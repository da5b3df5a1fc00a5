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
  /// A dispatch may require a subgroup size from the device's range, and that all subgroups are full.
  FullSubgroups,
  RoundsToEven32,  ///< a shader may require that float32 results are rounded to nearest even
  CooperativeMatrixKhr,
  CooperativeMatrixNv,
};

std::string_view name_of(Feature feature);  ///< "storageBuffer8BitAccess", "shaderIntegerDotProduct", ...

/// A kind of texture that a device can read, write (as a storage image) and copy.
struct TextureSupport {
  Storage storage = Storage::Texture3D;  ///< never Buffer
  DType dtype = DType::F32;
  std::array<std::uint32_t, 3> max_extent{};  ///< texels in x, y, z
  std::uint64_t max_bytes = 0;                ///< the largest size of one texture
  bool sampled = false;                       ///< shaders may read it through a sampler too
};

/// The extension by which shaders reach a device's matrix units.
enum class MatrixExtension : std::uint8_t { Nv, Khr };

Feature feature_of(MatrixExtension extension);
/// "VK_NV_cooperative_matrix", "VK_KHR_cooperative_matrix"
std::string_view name_of(MatrixExtension extension);

/// A matrix product that the invocations of a subgroup compute together: rows x depth by depth x columns.
struct CooperativeShape {
  std::uint32_t rows = 0, columns = 0, depth = 0;
  DType factors = DType::F16;  ///< F16, I8, ...
  DType sums = DType::F32;     ///< dtype of the accumulator and the result
  MatrixExtension extension = MatrixExtension::Nv;
  bool saturates = false;  ///< sums end at the ends of their range, instead of wrapping

  friend bool operator==(const CooperativeShape&, const CooperativeShape&) = default;
};

/// "16x16x32 i8 to i32": rows, columns, depth; with ", saturating" if it does
std::string to_string(const CooperativeShape& shape);

/// A guess of a device's shader cores for choices that need a number: that of the NVIDIA H100 and H200, on
/// which the choices were measured. For a smaller device it divides work more finely than is best, but keeps
/// it busy.
inline constexpr std::uint32_t assumed_shader_cores = 132;

/// What is known about a Vulkan device, as plain data, so that ops can query it without using Vulkan.
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
  /// Shapes that shaders reach through either extension, with subgroup scope, signed integers and
  /// floats of at most 32 bits; empty without the feature.
  std::vector<CooperativeShape> cooperative_shapes;

  std::array<std::uint32_t, 3> max_workgroup_count{65535, 65535, 65535};
  std::array<std::uint32_t, 3> max_workgroup_size{128, 128, 64};
  std::uint32_t max_workgroup_invocations = 128;
  std::uint32_t max_shared_bytes = 16384;
  std::uint32_t max_push_constant_bytes = 128;
  std::uint64_t max_storage_buffer_range = 1ULL << 27;
  std::uint32_t max_storage_buffers_per_stage = 4;
  std::uint32_t max_storage_images_per_stage = 4;
  std::uint32_t max_sampled_images_per_stage = 16;  ///< including their samplers
  std::uint32_t max_image_3d = 256;
  std::uint32_t max_image_2d = 4096;
  std::vector<TextureSupport> textures;
  std::uint32_t subgroup_size = 1;
  std::uint32_t min_subgroup_size = 1;
  std::uint32_t max_subgroup_size = 1;
  /// The limit for a workgroup that requires a subgroup size; 0: the device does not report it, as when it
  /// has no such feature.
  std::uint32_t max_workgroup_subgroups = 0;
  /// The units that run workgroups: streaming multiprocessors (NVIDIA), compute units (AMD), shader cores
  /// (Arm). 0: the driver has no extension that reports them.
  std::uint32_t shader_cores = 0;
  double timestamp_period_ns = 0;
  std::uint32_t timestamp_valid_bits = 0;
  std::uint64_t device_memory_bytes = 0;  ///< sum of device-local heaps

  bool has(Feature feature) const;
  /// Returns whether a dispatch with workgroups of `local_size` may require full subgroups of `size`: a power
  /// of two in the device's range that divides the size along x, with no more subgroups per workgroup than
  /// the device allows.
  bool can_demand(std::uint32_t size, const std::array<std::uint32_t, 3>& local_size) const;
  /// Returns whether the device is the host's own processors, such as lavapipe, which share them and their
  /// memory with everything else.
  bool is_cpu() const { return type == "cpu"; }
  /// Returns the shader cores, or `assumed_shader_cores` if the driver does not report them.
  std::uint32_t shader_cores_or_assumed() const {
    return shader_cores == 0 ? assumed_shader_cores : shader_cores;
  }
  /// Returns null if the device has no such textures.
  const TextureSupport* texture(Storage storage, DType dtype) const;
};

}  // namespace assay
