#include "harness/device/ceilings.h"

#include "harness/base/names.h"

#include <algorithm>
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

}  // namespace assay
