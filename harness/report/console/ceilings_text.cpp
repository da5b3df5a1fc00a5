#include "harness/report/console/ceilings_text.h"

#include "harness/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace assay {
namespace {

constexpr int digits = 6;

struct Rate {
  const char* name;
  double gops;
  std::string kernel;  ///< the kernel that reached it
};

std::array<Rate, 5> arithmetic(const Ceilings& ceilings) {
  return {{{"fp32", ceilings.fp32_gops, ""},
           {"fp16", ceilings.fp16_gops, ""},
           {"int8 dot", ceilings.dot4x8_gops, ceilings.dot4x8_kernel},
           {"int8 matrix", ceilings.coop_int8_gops, ceilings.coop_int8_kernel},
           {"fp16 matrix", ceilings.coop_fp16_gops, ceilings.coop_fp16_kernel}}};
}

std::string rate_text(const Rate& rate) {
  if (!(rate.gops > 0)) return "not supported";
  return significant(rate.gops, digits) + " GOP/s" + (rate.kernel.empty() ? "" : " by " + rate.kernel);
}

/// The state of the device and its host during the measurement.
std::string circumstances(const Ceilings& ceilings) {
  std::string text;
  if (ceilings.clock_ratio > 0) text = significant(ceilings.clock_ratio, digits) + " of the full clock";
  if (ceilings.host_load > 0) {
    text += fmt::format("{}{} of the host's processors busy with other work", text.empty() ? "" : ", ",
                        significant(ceilings.host_load, digits));
  }
  return text;
}

std::string short_rate(double giga) {
  return fixed(giga, giga < 100 ? 1 : 0);
}

std::string copy_speed(const BandwidthPoint& point, const char* unit) {
  return short_rate(point.copy_gbps) + unit + " at " + binary_bytes(point.footprint_bytes);
}

std::string curve_table(const std::vector<BandwidthPoint>& curve) {
  using Cells = std::array<std::string, 4>;
  std::vector<Cells> rows = {{"footprint", "copy", "read", "write"}};
  for (const BandwidthPoint& point : curve) {
    rows.push_back({binary_bytes(point.footprint_bytes), significant(point.copy_gbps, digits),
                    significant(point.read_gbps, digits), significant(point.write_gbps, digits)});
  }
  std::array<std::size_t, 4> widths{};
  for (const Cells& cells : rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::string table;
  for (const Cells& cells : rows) {
    if (!table.empty()) table += '\n';
    for (std::size_t i = 0; i < cells.size(); ++i)
      table += (i == 0 ? "" : "  ") + std::string(widths[i] - cells[i].size(), ' ') + cells[i];
  }
  return table;
}

std::string measured_text(const Ceilings& ceilings) {
  return fmt::format("{}, on {}, driver {}", ceilings.measured_utc, ceilings.device_uuid, ceilings.driver);
}

}  // namespace

std::vector<CeilingLine> ceiling_lines(const Ceilings& ceilings) {
  if (!ceilings.measured()) return {{"measured", "none"}};
  std::vector<CeilingLine> lines = {
      {"measured", measured_text(ceilings)},
      {"kernels", ceilings.kernels},
      {"GB/s", curve_table(ceilings.bandwidth)},
      {"last cache", ceilings.cache_bytes > 0 ? binary_bytes(ceilings.cache_bytes) : "the curve shows none"}};
  for (const Rate& rate : arithmetic(ceilings)) lines.push_back({rate.name, rate_text(rate)});
  lines.push_back(
      {"dispatch", significant(ceilings.dispatch_us, digits) + " us from one empty dispatch to the next"});
  const std::string while_measured = circumstances(ceilings);
  if (!while_measured.empty()) lines.push_back({"measured at", while_measured});
  return lines;
}

std::string ceilings_text(const Ceilings& ceilings) {
  constexpr std::size_t label_width = 20;  // equal to the other lines of a device
  std::string text;
  for (const auto& [label, value] : ceiling_lines(ceilings))
    text += fmt::format("    {:<{}}{}\n", label, label_width, indented(value, 4 + label_width));
  return text;
}

std::string ceilings_line(const Ceilings& ceilings) {
  if (!ceilings.measured()) return "not measured";
  const std::vector<BandwidthPoint>& curve = ceilings.bandwidth;
  const auto best = std::ranges::max_element(curve, {}, &BandwidthPoint::copy_gbps);
  std::string line = "copy " + copy_speed(curve.back(), " GB/s");
  if (best->footprint_bytes != curve.back().footprint_bytes) line += ", " + copy_speed(*best, "");
  std::string rates;
  for (const Rate& rate : arithmetic(ceilings)) {
    if (rate.gops > 0) rates += (rates.empty() ? "" : ", ") + (rate.name + (" " + short_rate(rate.gops)));
  }
  return line + (rates.empty() ? "" : "; " + rates + " GOP/s");
}

}  // namespace assay
