#pragma once

#include "harness/tensor/dtype.h"
#include "harness/tensor/form.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A limit of a device that programs are compared with: the bandwidth of memory, or a rate of operations.
enum class Ceiling : std::uint8_t { Bandwidth, Fp32, Fp16, Dot4x8, CoopInt8, CoopFp16 };

std::string_view name_of(
    Ceiling ceiling);  ///< "bandwidth", "fp32", "fp16", "dot4x8", "coop_int8", "coop_fp16"

/// What a device reaches at one footprint, in GB/s (10^9 bytes per second), counting bytes read plus bytes
/// written.
struct BandwidthPoint {
  std::uint64_t footprint_bytes = 0;  ///< all memory that is read or written
  double copy_gbps = 0;               ///< half read, half written
  double read_gbps = 0;
  double write_gbps = 0;
};

/// The ceilings of one device with one driver, measured by our own kernels. A ceiling is 0 if the device has
/// no such feature or nothing was measured. Operations count 2 per multiply-add.
struct Ceilings {
  std::string device_uuid;  ///< the measured device's
  std::string driver;       ///< its driver's name and version
  std::string kernels;      ///< hash of the measuring kernels; other kernels would reach other ceilings
  std::string measured_utc;
  std::vector<BandwidthPoint> bandwidth;  ///< by footprint, ascending
  /// The last-level cache's size as the curve shows it: the largest footprint that still runs at the cache's
  /// speed; 0 if the curve shows none.
  std::uint64_t cache_bytes = 0;
  double fp32_gops = 0;
  double fp16_gops = 0;
  double dot4x8_gops = 0;
  double coop_int8_gops = 0;
  double coop_fp16_gops = 0;
  /// The kernel that reached the ceiling: "16x16x32 i8 to i32", "saturating"; empty if there is only one
  /// kernel.
  std::string dot4x8_kernel;
  std::string coop_int8_kernel;
  std::string coop_fp16_kernel;
  double dispatch_us = 0;  ///< spacing of empty dispatches with a barrier between each pair
  /// The lowest ratio of the device's clock to its full clock during the measurements; 0: not observed.
  double clock_ratio = 0;
  /// The share of the host's processors that other processes used meanwhile. It matters for devices of type
  /// "cpu", which share them.
  double host_load = 0;

  bool measured() const { return !bandwidth.empty(); }
  /// Returns a ceiling that counts operations, in 10^9 per second; 0 for bandwidth.
  double gops(Ceiling ceiling) const;
};

/// Returns the larger of each figure of two measurements of the same device, because disturbances only lower
/// them. If the curves have different footprints, `b`'s is taken.
Ceilings larger_of(const Ceilings& a, const Ceilings& b);

/// Returns the bandwidth at a footprint and a share of bytes read (0: write only, 0.5: copy, 1: read only).
/// It is linear in the footprint's logarithm between two footprints, and linear in time per byte between two
/// shares. Outside the curve its nearest end is used. 0 if nothing was measured.
double bandwidth_gbps(const Ceilings& ceilings, std::uint64_t footprint_bytes, double read_share);

/// Says how far the device's clock can be trusted.
enum class TimerQuality : std::uint8_t {
  Good,
  Coarse,  ///< right but with a large unit: samples are long, or marked
  Broken,  ///< absent, stopped or wrong compared with the CPU's clock: the CPU times batches instead
};
std::string_view name_of(TimerQuality quality);  ///< "good", "coarse", "broken"

/// What is known about a queue's timestamps, measured at the start of a run.
struct TimerCalibration {
  TimerQuality quality = TimerQuality::Good;
  std::string note;  ///< why the timer is not good, with numbers
  double period_ns = 0;
  std::uint32_t valid_bits = 0;
  double wrap_s = 0;       ///< the counter wraps around after this time
  double step_ns = 0;      ///< smallest difference observed
  double pair_ns_p50 = 0;  ///< time between an empty pair of timestamps
  double pair_ns_p95 = 0;
  /// The resolution: max(step, p95 of an empty pair), or the p95 of an empty submission by the CPU's clock if
  /// the timer is broken; 0: not measured in this run.
  double unit_ns = 0;
  double gpu_over_cpu = 0;  ///< a long dispatch by the GPU's clock over the CPU's: 1 is right; 0: not checked
  std::string cross_check;  ///< the method: "calibrated timestamps" or "submission"; empty: not checked
};

/// Returns one line for people: "good: 1 ns per tick, 64 bits, unit 1.3 us (step 40 ns, empty pair 60 ns,
/// p95 130 ns), 1.0000 of the CPU's clock (calibrated timestamps)", followed by what is wrong.
std::string to_string(const TimerCalibration& timer);

/// A device feature that an impl may need; its name is what UNSUPPORTED(...) prints.
enum class Feature : std::uint8_t {
  Storage8,         ///< 8-bit storage buffers
  Storage16,        ///< 16-bit storage buffers
  UniformStorage8,  ///< 8-bit values in uniform blocks, too
  UniformStorage16,
  Int8,  ///< 8-bit arithmetic
  Int16,
  Float16,  ///< 16-bit float arithmetic
  Int64,
  DotProduct,  ///< VK_KHR_shader_integer_dot_product, packed 4x8 bit
  SubgroupArithmetic,
  SubgroupShuffle,
  SubgroupVote,
  SubgroupBallot,
  SubgroupShuffleRelative,
  SubgroupClustered,
  SubgroupQuad,
  SubgroupSizeControl,
  /// A dispatch may require a subgroup size from the device's range, and that all subgroups are full.
  FullSubgroups,
  // What a shader may require of floats of 32 and 16 bits (SPV_KHR_float_controls).
  RoundsToEven32,  ///< results are rounded to nearest even
  RoundsToEven16,
  RoundsToZero32,
  RoundsToZero16,
  KeepsSubnormals32,  ///< subnormal values are not flushed to zero
  KeepsSubnormals16,
  FlushesSubnormals32,
  FlushesSubnormals16,
  KeepsInfinities32,  ///< infinities, NaN and signs of zeros are kept
  KeepsInfinities16,
  Maintenance4,  ///< SPIR-V may state workgroup sizes by constants: LocalSizeId
  MemoryModel,   ///< Vulkan's memory model, which cooperative matrices need
  MemoryModelDeviceScope,
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

/// The shapes whose elements' places DeviceInfo::places_matrices() is about, the smaller one first.
inline constexpr std::array<CooperativeShape, 2> placed_shapes{
    CooperativeShape{16, 8, 16, DType::F16, DType::F32, MatrixExtension::Khr},
    CooperativeShape{16, 16, 16, DType::F16, DType::F32, MatrixExtension::Khr}};

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
  std::string uuid;         ///< 32 hex digits
  std::string pci_address;  ///< "0000:1b:00.0"; empty: the driver does not report it
  std::vector<Feature> features;
  std::vector<std::string> extensions;
  bool dot_product_accelerated = false;  ///< integerDotProduct4x8BitPackedSignedAccelerated
  /// Shapes that shaders reach through either extension, with subgroup scope, signed integers and
  /// floats of at most 32 bits; empty without the feature.
  std::vector<CooperativeShape> cooperative_shapes;
  /// Shapes that were listed too, but multiply wrongly, and are not used: "16x16x16 i8 to i32 by
  /// VK_KHR_cooperative_matrix: 12 of 256 wrong"
  std::vector<std::string> wrong_matrices;

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
  /// The profile whose limits and features this has (device_profile.h); empty: they are the device's own.
  std::string as_if;
  std::string as_if_type;  ///< `type` of the profile's device

  bool has(Feature feature) const;
  /// Whether the driver is known to round halves to nearest even and to keep subnormal ones without being
  /// asked. NVIDIA's does; asked for, it compiles worse code (shaders/NOTES.md, "Modes of floats").
  bool treats_halves_well_unasked() const { return driver_name == "NVIDIA"; }
  /// Whether own kernels can demand that float32 is rounded to the nearest float16: by rounding to nearest
  /// even of both widths, because a device may have one rounding for all.
  bool rounds_halves_to_even() const { return has(Feature::RoundsToEven16) && has(Feature::RoundsToEven32); }
  /// Returns whether a dispatch with workgroups of `local_size` may require full subgroups of `size`: a power
  /// of two in the device's range that divides the size along x, with no more subgroups per workgroup than
  /// the device allows.
  bool can_demand(std::uint32_t size, const std::array<std::uint32_t, 3>& local_size) const;
  /// Returns whether all subgroups have one size, so that nothing needs to be demanded.
  bool has_one_subgroup_size() const { return min_subgroup_size == max_subgroup_size; }
  /// Returns whether a dispatch with workgroups of `local_size` can rely on gl_SubgroupSize, with all
  /// subgroups full: the device has one size, or the dispatch may demand the device's own. A driver with
  /// several sizes may run a shader with another size than gl_SubgroupSize reports.
  bool knows_subgroup_size(const std::array<std::uint32_t, 3>& local_size) const;
  /// Returns whether kernels may expect the invocations of a subgroup to hold the elements of
  /// VK_KHR_cooperative_matrix's matrices of halves where shaders/common/placed_matrices.glslh says: the
  /// driver is NVIDIA's, and both shapes are there. Where check_matrices() finds elements elsewhere, the
  /// smaller shape is one of wrong_matrices.
  bool places_matrices() const;
  /// Returns whether the device is the host's own processors, such as lavapipe, which share them and their
  /// memory with everything else.
  bool is_cpu() const { return type == "cpu"; }
  /// Returns whether choices between equal programs should be those for a CPU. It is is_cpu(), but for a
  /// device with a profile: choices are then made as on the profile's device.
  bool is_planned_as_cpu() const { return (as_if.empty() ? type : as_if_type) == "cpu"; }
  /// Returns the shader cores, or `assumed_shader_cores` if the driver does not report them.
  std::uint32_t shader_cores_or_assumed() const {
    return shader_cores == 0 ? assumed_shader_cores : shader_cores;
  }
  /// Returns null if the device has no such textures.
  const TextureSupport* texture(Storage storage, DType dtype) const;
};

}  // namespace assay
