#include "harness/core/ceilings.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

/// Straight over time per byte: a kernel that reads for one part and writes for the other takes as long as
/// both parts.
double mixed(double a, double b, double share_of_b) {
  if (!(a > 0) || !(b > 0)) return 0;
  return 1 / ((1 - share_of_b) / a + share_of_b / b);
}

double at_share(const BandwidthPoint& point, double read_share) {
  const double share = std::clamp(read_share, 0.0, 1.0);
  return share < 0.5 ? mixed(point.write_gbps, point.copy_gbps, 2 * share)
                     : mixed(point.copy_gbps, point.read_gbps, 2 * share - 1);
}

}  // namespace

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

}  // namespace assay
