#include "harness/op/roofline.h"

#include "harness/base/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace assay {
namespace {

constexpr Names<2> cache_names{"hot", "cold"};

constexpr double low_share_pct = 20;
/// If a program of several dispatches spends at least this share of its time on dispatching, that is its
/// limit.
constexpr double much_dispatching = 0.5;
/// If the spacing of its dispatches is less than this share of a program's time, the kernel has work to gain
/// from.
constexpr double much_latency = 0.25;

double percent(double amount, double time_us, double ceiling_per_ns) {
  return ceiling_per_ns > 0 ? 100 * amount / (time_us * 1e3) / ceiling_per_ns : 0;
}

std::string limit_of(const Roofline& roofline, const TimedProgram& program, double dispatch_us) {
  const double largest = std::max(roofline.pct_peak_bw, roofline.pct_peak_ops);
  if (largest >= low_share_pct) {
    return roofline.pct_peak_ops > roofline.pct_peak_bw ? "operations" : "bandwidth";
  }
  const double spacing_us = program.dispatches * dispatch_us;
  if (program.dispatches > 1 && spacing_us >= much_dispatching * program.time_us) return "dispatches";
  return spacing_us >= much_latency * program.time_us ? "latency" : "kernel";
}

/// The ceilings that a program is compared with.
struct Peaks {
  double gbps = 0;
  double gops = 0;
};

Peaks peaks_of(const Ceilings& ceilings, const Work& work, const TimedProgram& program) {
  const std::int64_t bytes = work.bytes_read + work.bytes_written;
  const std::int64_t footprint = program.cache == Cache::Cold
                                     ? std::numeric_limits<std::int64_t>::max()
                                     : program.input_sets * work.bytes_read + work.bytes_written;
  const double share = bytes > 0 ? static_cast<double>(work.bytes_read) / static_cast<double>(bytes) : 0.5;
  return {bandwidth_gbps(ceilings, static_cast<std::uint64_t>(footprint), share),
          ceilings.gops(program.ceiling)};
}

}  // namespace

std::string_view name_of(Cache cache) {
  return name_in(cache_names, cache);
}

Roofline roofline(const Ceilings& ceilings, const Work& work, const TimedProgram& program,
                  double suspect_pct) {
  Roofline result;
  const double time_us = program.time_us;
  if (!ceilings.measured() || !(time_us > 0)) return result;
  const std::int64_t bytes = work.bytes_read + work.bytes_written;
  const Peaks peaks = peaks_of(ceilings, work, program);
  result.peak_gbps = peaks.gbps;
  result.peak_gops = peaks.gops;
  result.pct_peak_bw = percent(static_cast<double>(bytes), time_us, result.peak_gbps);
  result.pct_peak_ops = percent(static_cast<double>(work.operations), time_us, result.peak_gops);
  result.limited_by = limit_of(result, program, ceilings.dispatch_us);
  if (result.pct_peak_bw > suspect_pct) {
    result.suspect = fmt::format(
        "{} bytes in {:.4g} us are {:.4g} GB/s, {:.0f} % of the {:.4g} GB/s that this device was measured to "
        "move over that footprint: the time is too short, the work is not done, or the ceiling is wrong",
        bytes, time_us, static_cast<double>(bytes) / time_us / 1e3, result.pct_peak_bw, result.peak_gbps);
  } else if (result.pct_peak_ops > suspect_pct) {
    result.suspect = fmt::format(
        "{} operations in {:.4g} us are {:.0f} % of the {:.4g} GOP/s that this device was measured to do "
        "({}): the time is too short, the work is not done, or the ceiling is wrong",
        work.operations, time_us, result.pct_peak_ops, result.peak_gops, name_of(program.ceiling));
  }
  return result;
}

LeastTime least_time(const Ceilings& ceilings, const Work& work, const TimedProgram& program) {
  constexpr double giga = 1e9;
  const Peaks peaks = peaks_of(ceilings, work, program);
  const auto bytes = static_cast<double>(work.bytes_read + work.bytes_written);
  const auto operations = static_cast<double>(work.operations);
  const double moving_s = peaks.gbps > 0 ? bytes / (peaks.gbps * giga) : 0;
  const double computing_s = peaks.gops > 0 ? operations / (peaks.gops * giga) : 0;
  if (moving_s == 0 && computing_s == 0) return {};
  if (moving_s >= computing_s)
    return {moving_s, fmt::format("{:.3g} bytes at {:.3g} GB/s", bytes, peaks.gbps)};
  return {computing_s, fmt::format("{:.3g} operations at {:.3g} GOP/s ({})", operations, peaks.gops,
                                   name_of(program.ceiling))};
}

}  // namespace assay
