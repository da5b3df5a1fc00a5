#include "harness/report/console/ceilings_text.h"

#include <fmt/format.h>

#include <array>

namespace assay {
namespace {

/// "64 KiB", "1.5 MiB".
std::string size_text(std::uint64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, units[unit]);
}

std::string gops_text(double gops) {
  if (!(gops > 0)) return "not supported";
  return gops >= 1e4 ? fmt::format("{:.1f} Top/s", gops / 1e3) : fmt::format("{:.1f} Gop/s", gops);
}

}  // namespace

std::string ceilings_text(const Ceilings& ceilings) {
  std::string text = fmt::format("    bandwidth, GB/s\n    {:>10} {:>9} {:>9} {:>9}\n", "footprint", "copy",
                                 "read", "write");
  for (const BandwidthPoint& point : ceilings.bandwidth) {
    text += fmt::format("    {:>10} {:>9.1f} {:>9.1f} {:>9.1f}\n", size_text(point.footprint_bytes),
                        point.copy_gbps, point.read_gbps, point.write_gbps);
  }
  const std::array<std::pair<const char*, std::string>, 8> lines{{
      {"last-level cache", ceilings.cache_bytes > 0 ? size_text(ceilings.cache_bytes) : "none seen"},
      {"fp32", gops_text(ceilings.fp32_gops)},
      {"fp16", gops_text(ceilings.fp16_gops)},
      {"int8 dot product", gops_text(ceilings.dot4x8_gops)},
      {"cooperative int8", gops_text(ceilings.coop_int8_gops)},
      {"cooperative fp16", gops_text(ceilings.coop_fp16_gops)},
      {"dispatch spacing", fmt::format("{:.2f} us", ceilings.dispatch_us)},
      {"measured", fmt::format("{}, driver {}", ceilings.measured_utc, ceilings.driver)},
  }};
  for (const auto& [name, value] : lines) text += fmt::format("    {:<19} {}\n", name, value);
  return text;
}

std::string ceilings_line(const Ceilings& ceilings) {
  if (!ceilings.measured()) return "not measured";
  const BandwidthPoint& far = ceilings.bandwidth.back();
  return fmt::format(
      "copy {:.1f} GB/s over {}, cache {}, fp32 {}, int8 dot product {}, a dispatch {:.2f} us; {}",
      far.copy_gbps, size_text(far.footprint_bytes),
      ceilings.cache_bytes > 0 ? size_text(ceilings.cache_bytes) : "not seen", gops_text(ceilings.fp32_gops),
      gops_text(ceilings.dot4x8_gops), ceilings.dispatch_us, ceilings.measured_utc);
}

}  // namespace assay
