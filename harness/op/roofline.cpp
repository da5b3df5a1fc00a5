#include "harness/op/roofline.h"

#include "harness/base/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace assay {
namespace {

constexpr Names<2> cache_names{"hot", "cold"};

constexpr double low_share_pct = 20;
constexpr double latency_spacings = 5;

double operations_gops(const Ceilings& ceilings, Work::Ceiling ceiling) {
  switch (ceiling) {
    case Work::Ceiling::Bandwidth:
      return 0;
    case Work::Ceiling::Fp32:
      return ceilings.fp32_gops;
    case Work::Ceiling::Fp16:
      return ceilings.fp16_gops;
    case Work::Ceiling::Dot4x8:
      return ceilings.dot4x8_gops;
    case Work::Ceiling::CoopInt8:
      return ceilings.coop_int8_gops;
    case Work::Ceiling::CoopFp16:
      return ceilings.coop_fp16_gops;
  }
  return 0;
}

double percent(double amount, double time_us, double ceiling_per_ns) {
  return ceiling_per_ns > 0 ? 100 * amount / (time_us * 1e3) / ceiling_per_ns : 0;
}

std::string limit_of(const Roofline& roofline, double time_us, double dispatch_us) {
  const double largest = std::max(roofline.pct_peak_bw, roofline.pct_peak_ops);
  if (largest < low_share_pct && time_us < latency_spacings * dispatch_us) return "latency";
  return roofline.pct_peak_ops > roofline.pct_peak_bw ? "operations" : "bandwidth";
}

}  // namespace

std::string_view name_of(Cache cache) {
  return name_in(cache_names, cache);
}

std::optional<Cache> parse_cache(std::string_view name) {
  return value_in<Cache>(cache_names, name);
}

Roofline roofline(const Ceilings& ceilings, const Work& work, Cache cache, double time_us,
                  double suspect_pct) {
  Roofline result;
  if (!ceilings.measured() || !(time_us > 0)) return result;
  const std::int64_t bytes = work.bytes_read + work.bytes_written;
  const std::uint64_t footprint =
      cache == Cache::Cold ? std::numeric_limits<std::uint64_t>::max() : static_cast<std::uint64_t>(bytes);
  const double share = bytes > 0 ? static_cast<double>(work.bytes_read) / static_cast<double>(bytes) : 0.5;
  const double peak_gbps = bandwidth_gbps(ceilings, footprint, share);
  const double peak_gops = operations_gops(ceilings, work.ceiling);
  result.pct_peak_bw = percent(static_cast<double>(bytes), time_us, peak_gbps);
  result.pct_peak_ops = percent(static_cast<double>(work.operations), time_us, peak_gops);
  result.limited_by = limit_of(result, time_us, ceilings.dispatch_us);
  if (result.pct_peak_bw > suspect_pct) {
    result.suspect = fmt::format(
        "{} bytes in {:.4g} us are {:.4g} GB/s, {:.0f} % of the {:.4g} GB/s that this device was measured to "
        "move over that footprint: the time is too short, the work is not done, or the ceiling is wrong",
        bytes, time_us, static_cast<double>(bytes) / time_us / 1e3, result.pct_peak_bw, peak_gbps);
  } else if (result.pct_peak_ops > suspect_pct) {
    result.suspect = fmt::format(
        "{} operations in {:.4g} us are {:.0f} % of the {:.4g} GOP/s that this device was measured to do: "
        "the time is too short, the work is not done, or the ceiling is wrong",
        work.operations, time_us, result.pct_peak_ops, peak_gops);
  }
  return result;
}

}  // namespace assay
