#include "harness/device/device_info.h"

#include "harness/base/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace assay {
namespace {

constexpr Names<6> ceiling_names{"bandwidth", "fp32", "fp16", "dot4x8", "coop_int8", "coop_fp16"};

/// Interpolates the time per byte linearly: a kernel that reads one part and writes the other takes the sum
/// of both parts' times.
double mixed(double a, double b, double share_of_b) {
  if (!(a > 0) || !(b > 0)) return 0;
  return 1 / ((1 - share_of_b) / a + share_of_b / b);
}

double at_share(const BandwidthPoint& point, double read_share) {
  const double share = std::clamp(read_share, 0.0, 1.0);
  return share < 0.5 ? mixed(point.write_gbps, point.copy_gbps, 2 * share)
                     : mixed(point.copy_gbps, point.read_gbps, 2 * share - 1);
}

std::string duration(double ns) {
  if (ns < 1e3) return fmt::format("{:.4g} ns", ns);
  if (ns < 1e6) return fmt::format("{:.4g} us", ns / 1e3);
  return fmt::format("{:.4g} ms", ns / 1e6);
}

}  // namespace

std::string_view name_of(Ceiling ceiling) {
  return name_in(ceiling_names, ceiling);
}

double Ceilings::gops(Ceiling ceiling) const {
  switch (ceiling) {
    case Ceiling::Bandwidth:
      return 0;
    case Ceiling::Fp32:
      return fp32_gops;
    case Ceiling::Fp16:
      return fp16_gops;
    case Ceiling::Dot4x8:
      return dot4x8_gops;
    case Ceiling::CoopInt8:
      return coop_int8_gops;
    case Ceiling::CoopFp16:
      return coop_fp16_gops;
  }
  return 0;
}

Ceilings larger_of(const Ceilings& a, const Ceilings& b) {
  Ceilings larger = b;
  for (double Ceilings::*figure : {&Ceilings::fp32_gops, &Ceilings::fp16_gops, &Ceilings::dot4x8_gops,
                                   &Ceilings::coop_int8_gops, &Ceilings::coop_fp16_gops}) {
    larger.*figure = std::max(a.*figure, b.*figure);
  }
  for (const auto& [gops, kernel] : {std::pair{&Ceilings::dot4x8_gops, &Ceilings::dot4x8_kernel},
                                     {&Ceilings::coop_int8_gops, &Ceilings::coop_int8_kernel},
                                     {&Ceilings::coop_fp16_gops, &Ceilings::coop_fp16_kernel}}) {
    if (a.*gops > b.*gops) larger.*kernel = a.*kernel;
  }
  // A merged figure is never less than the one of the less disturbed measurement.
  larger.clock_ratio = std::max(a.clock_ratio, b.clock_ratio);
  larger.host_load = std::min(a.host_load, b.host_load);
  if (a.dispatch_us > 0) larger.dispatch_us = std::min(a.dispatch_us, b.dispatch_us);
  const auto same_footprint = [](const BandwidthPoint& x, const BandwidthPoint& y) {
    return x.footprint_bytes == y.footprint_bytes;
  };
  if (!std::equal(a.bandwidth.begin(), a.bandwidth.end(), b.bandwidth.begin(), b.bandwidth.end(),
                  same_footprint)) {
    return larger;
  }
  for (std::size_t i = 0; i < larger.bandwidth.size(); ++i) {
    for (double BandwidthPoint::*rate :
         {&BandwidthPoint::copy_gbps, &BandwidthPoint::read_gbps, &BandwidthPoint::write_gbps}) {
      larger.bandwidth[i].*rate = std::max(a.bandwidth[i].*rate, b.bandwidth[i].*rate);
    }
  }
  return larger;
}

double bandwidth_gbps(const Ceilings& ceilings, std::uint64_t footprint_bytes, double read_share) {
  const std::vector<BandwidthPoint>& curve = ceilings.bandwidth;
  if (curve.empty()) return 0;
  const auto above = std::find_if(curve.begin(), curve.end(), [&](const BandwidthPoint& point) {
    return point.footprint_bytes >= footprint_bytes;
  });
  if (above == curve.end()) return at_share(curve.back(), read_share);
  if (above == curve.begin()) return at_share(curve.front(), read_share);
  const BandwidthPoint& below = *(above - 1);
  const double low = std::log(static_cast<double>(below.footprint_bytes));
  const double high = std::log(static_cast<double>(above->footprint_bytes));
  const double share = (std::log(static_cast<double>(footprint_bytes)) - low) / (high - low);
  return at_share(below, read_share) * (1 - share) + at_share(*above, read_share) * share;
}

std::string_view name_of(TimerQuality quality) {
  static constexpr Names<3> names{"good", "coarse", "broken"};
  return name_in(names, quality);
}

std::string to_string(const TimerCalibration& timer) {
  std::string text(name_of(timer.quality));
  if (timer.valid_bits == 0) {
    return text + ": " + timer.note;
  }
  text += fmt::format(": {:.6g} ns per tick, {} bits, unit {} (step {}, empty pair {}, p95 {})",
                      timer.period_ns, timer.valid_bits, duration(timer.unit_ns), duration(timer.step_ns),
                      duration(timer.pair_ns_p50), duration(timer.pair_ns_p95));
  if (!timer.cross_check.empty()) {
    text += fmt::format(", {:.4f} of the CPU's clock ({})", timer.gpu_over_cpu, timer.cross_check);
  }
  return timer.note.empty() ? text : text + "; " + timer.note;
}

std::string_view name_of(Feature feature) {
  static constexpr Names<33> names{"storageBuffer8BitAccess",
                                   "storageBuffer16BitAccess",
                                   "uniformAndStorageBuffer8BitAccess",
                                   "uniformAndStorageBuffer16BitAccess",
                                   "shaderInt8",
                                   "shaderInt16",
                                   "shaderFloat16",
                                   "shaderInt64",
                                   "shaderIntegerDotProduct",
                                   "subgroupArithmetic",
                                   "subgroupShuffle",
                                   "subgroupVote",
                                   "subgroupBallot",
                                   "subgroupShuffleRelative",
                                   "subgroupClustered",
                                   "subgroupQuad",
                                   "subgroupSizeControl",
                                   "computeFullSubgroups",
                                   "shaderRoundingModeRTEFloat32",
                                   "shaderRoundingModeRTEFloat16",
                                   "shaderRoundingModeRTZFloat32",
                                   "shaderRoundingModeRTZFloat16",
                                   "shaderDenormPreserveFloat32",
                                   "shaderDenormPreserveFloat16",
                                   "shaderDenormFlushToZeroFloat32",
                                   "shaderDenormFlushToZeroFloat16",
                                   "shaderSignedZeroInfNanPreserveFloat32",
                                   "shaderSignedZeroInfNanPreserveFloat16",
                                   "maintenance4",
                                   "vulkanMemoryModel",
                                   "vulkanMemoryModelDeviceScope",
                                   "VK_KHR_cooperative_matrix",
                                   "VK_NV_cooperative_matrix"};
  return name_in(names, feature);
}

Feature feature_of(MatrixExtension extension) {
  return extension == MatrixExtension::Khr ? Feature::CooperativeMatrixKhr : Feature::CooperativeMatrixNv;
}

std::string_view name_of(MatrixExtension extension) {
  return name_of(feature_of(extension));
}

std::string to_string(const CooperativeShape& shape) {
  return std::to_string(shape.rows) + "x" + std::to_string(shape.columns) + "x" +
         std::to_string(shape.depth) + " " + std::string(name_of(shape.factors)) + " to " +
         std::string(name_of(shape.sums)) + (shape.saturates ? ", saturating" : "");
}

bool DeviceInfo::has(Feature feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

bool DeviceInfo::can_demand(std::uint32_t size, const std::array<std::uint32_t, 3>& local_size) const {
  if (!has(Feature::FullSubgroups)) return false;
  if (!std::has_single_bit(size) || size < min_subgroup_size || size > max_subgroup_size) return false;
  const std::uint64_t invocations = std::uint64_t{local_size[0]} * local_size[1] * local_size[2];
  return local_size[0] % size == 0 && invocations / size <= max_workgroup_subgroups;
}

bool DeviceInfo::knows_subgroup_size(const std::array<std::uint32_t, 3>& local_size) const {
  return has_one_subgroup_size() || can_demand(subgroup_size, local_size);
}

bool DeviceInfo::places_matrices() const {
  constexpr std::uint32_t nvidia = 0x10de;
  const auto lists = [&](const CooperativeShape& shape) {
    return std::find(cooperative_shapes.begin(), cooperative_shapes.end(), shape) != cooperative_shapes.end();
  };
  return vendor_id == nvidia && lists(placed_shapes[0]) && lists(placed_shapes[1]) && subgroup_size == 32 &&
         has_one_subgroup_size() && has(Feature::Float16) && has(Feature::SubgroupShuffle) &&
         has(Feature::CooperativeMatrixKhr);
}

const TextureSupport* DeviceInfo::texture(Storage storage, DType dtype) const {
  const auto found = std::find_if(textures.begin(), textures.end(), [&](const TextureSupport& texture) {
    return texture.storage == storage && texture.dtype == dtype;
  });
  return found == textures.end() ? nullptr : &*found;
}

}  // namespace assay
