#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A limit of a device that programs are held against: memory's bandwidth, or a rate of operations.
enum class Ceiling : std::uint8_t { Bandwidth, Fp32, Fp16, Dot4x8, CoopInt8, CoopFp16 };

std::string_view name_of(
    Ceiling ceiling);  ///< "bandwidth", "fp32", "fp16", "dot4x8", "coop_int8", "coop_fp16"

/// What a device reaches over one footprint, in GB/s (10^9 bytes a second), bytes read plus bytes written.
struct BandwidthPoint {
  std::uint64_t footprint_bytes = 0;  ///< all memory that is touched, read or written
  double copy_gbps = 0;               ///< half read, half written
  double read_gbps = 0;
  double write_gbps = 0;
};

/// The ceilings of one device with one driver: what it reaches, measured by kernels of our own. 0 where the
/// device lacks the feature or nothing was measured; operations count 2 per multiply-add.
struct Ceilings {
  std::string device_uuid;  ///< of what they were measured on, as is `driver`
  std::string driver;       ///< name and version
  std::string kernels;      ///< hash of the kernels that measured; others would reach other ceilings
  std::string measured_utc;
  std::vector<BandwidthPoint> bandwidth;  ///< by footprint, ascending
  /// The last-level cache's size as the curve shows it: the largest footprint that still runs at the cache's
  /// speed; 0: the curve shows none.
  std::uint64_t cache_bytes = 0;
  double fp32_gops = 0;
  double fp16_gops = 0;
  double dot4x8_gops = 0;
  double coop_int8_gops = 0;
  double coop_fp16_gops = 0;
  /// Which of the kernels reached it: "16x16x32 i8 to i32", "saturating"; empty where there is one kernel.
  std::string dot4x8_kernel;
  std::string coop_int8_kernel;
  std::string coop_fp16_kernel;
  double dispatch_us = 0;  ///< spacing of empty dispatches with a barrier between each two
  /// The device's clock beside these figures, of its full clock, the lowest of all; 0: it was not watched.
  double clock_ratio = 0;
  /// The share of the host's processors that other processes used meanwhile: a device of type "cpu" shares
  /// them.
  double host_load = 0;

  bool measured() const { return !bandwidth.empty(); }
  /// Of a ceiling that counts operations, in 10^9 a second; 0 for bandwidth.
  double gops(Ceiling ceiling) const;
};

/// The larger of each figure of two measurements of the same device: what disturbs a measurement only lowers
/// it. Of curves over other footprints that of `b` counts.
Ceilings larger_of(const Ceilings& a, const Ceilings& b);

/// The curve at a footprint and a share of bytes read (0: write only, 0.5: copy, 1: read only). Between two
/// footprints it is straight over the footprint's logarithm; between two shares the time per byte is
/// straight. Outside of the curve its end counts. 0 when nothing was measured.
double bandwidth_gbps(const Ceilings& ceilings, std::uint64_t footprint_bytes, double read_share);

}  // namespace assay
