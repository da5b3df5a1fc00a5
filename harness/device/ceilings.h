#pragma once

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

}  // namespace assay
