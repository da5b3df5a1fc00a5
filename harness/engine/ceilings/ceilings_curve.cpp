#include "harness/engine/ceilings/ceilings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace assay {
namespace {

constexpr std::size_t least_points = 4;
constexpr double least_gain = 1.25;  ///< bandwidth of a cache over the bandwidth beyond it
constexpr double level = 1.08;       ///< a curve that rises less over an octave is flat

double median_of_3(double a, double b, double c) {
  std::array<double, 3> all{a, b, c};
  std::sort(all.begin(), all.end());
  return all[1];
}

/// GB/s by footprint, without single outliers, and never less than at a larger footprint.
std::vector<double> envelope(std::span<const BandwidthPoint> curve) {
  std::vector<double> mean;
  for (const BandwidthPoint& point : curve) {
    mean.push_back(std::cbrt(point.copy_gbps * point.read_gbps * point.write_gbps));
  }
  std::vector<double> smooth = mean;
  for (std::size_t i = 1; i + 1 < mean.size(); ++i) {
    smooth[i] = median_of_3(mean[i - 1], mean[i], mean[i + 1]);
  }
  smooth.back() = median_of_3(mean.back(), mean[mean.size() - 2], mean[mean.size() - 3]);
  for (std::size_t i = smooth.size() - 1; i-- > 0;) smooth[i] = std::max(smooth[i], smooth[i + 1]);
  return smooth;
}

/// Whether the bandwidth still rises from point i to half its footprint.
bool rises_below(std::span<const BandwidthPoint> curve, const std::vector<double>& gbps, std::size_t i) {
  std::size_t half = i;
  while (half > 0 && curve[half].footprint_bytes > curve[i].footprint_bytes / 2) --half;
  return gbps[half] > level * gbps[i];
}

}  // namespace

std::uint64_t last_level_cache_bytes(std::span<const BandwidthPoint> curve) {
  if (curve.size() < least_points) return 0;
  const std::vector<double> gbps = envelope(curve);
  const double far = gbps.back();
  std::size_t i = curve.size() - 1;
  while (i > 0 && gbps[i] < least_gain * far) --i;
  if (gbps[i] < least_gain * far) return 0;
  while (i > 0 && rises_below(curve, gbps, i)) --i;
  const double middle = (gbps[i] + far) / 2;
  while (i + 1 < curve.size() && gbps[i + 1] >= middle) ++i;
  return curve[i].footprint_bytes;
}

}  // namespace assay
