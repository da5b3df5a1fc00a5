#include "harness/report/console/labelled_text.h"

#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/console/terminal_text.h"
#include "harness/report/record/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

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
  return readable(rate.gops, digits) + " GOP/s" + (rate.kernel.empty() ? "" : " by " + rate.kernel);
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
    rows.push_back({binary_bytes(point.footprint_bytes), readable(point.copy_gbps, digits),
                    readable(point.read_gbps, digits), readable(point.write_gbps, digits)});
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

constexpr std::size_t value_column = 18;

void show_device(Page& page, const DeviceInfo& device) {
  page.section("device");
  page.line("name", device.name);
  page.line("type", device.type);
  page.line("driver", driver_of(device));
  page.line("Vulkan", device.api_version);
  page.line("UUID", device.uuid);
  page.line("PCI address", device.pci_address);
}

/// One "name=value" per line.
std::string lines_of(const std::map<std::string, std::string>& pairs) {
  std::string lines;
  for (const auto& [name, value] : pairs) lines.append(name).append("=").append(value).append("\n");
  return lines;
}

/// "0 to 18 by 3, 20": the places of a shard's groups, at most the first 20 ranges.
std::string groups_text(const ShardInfo& shard) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, shard.groups.size()); ++i) {
    const auto& [first, last, step] = shard.groups[i];
    if (i > 0) text += ", ";
    text += first == last ? fmt::format("{}", first)
            : step == 1   ? fmt::format("{} to {}", first, last)
                          : fmt::format("{} to {} by {}", first, last, step);
  }
  if (shard.groups.size() > most) text += fmt::format(", and {} more ranges", shard.groups.size() - most);
  return text;
}

void show_division(Page& page, const RunInfo& run) {
  const ShardInfo& shard = run.shard;
  if (shard.is_part()) {
    page.line("shard",
              fmt::format("{} of {}: groups {} of {}, which have {} rows\nplan {}", shard.index, shard.count,
                          groups_text(shard), shard.all_groups, shard.all_rows, shard.plan_hash));
  }
  page.line("merged from", fmt::format("{}", fmt::join(run.merged, " ")));
}

void show_circumstances(Page& page, const RunInfo& run) {
  page.section("run");
  page.line("id", run.run_id + " (schema " + std::to_string(run.schema) + ")");
  page.line("started", run.started_utc);
  page.line("assay", joined({run.version, run.compiler, run.build_type}, ", "));
  page.line("host", joined({run.host, run.os}, ", "));
  page.line("CPU", run.cpu + ", " + std::to_string(run.cores) + " cores");
  std::string command;
  for (const std::string& word : run.command) command += (command.empty() ? "" : " ") + word;
  page.line("command", command);
  page.line("again with", run.repro_options);
  page.line("environment", lines_of(run.environment));
  page.line("inputs", lines_of(run.inputs));
  page.line("seed", std::to_string(run.seed));
  if (run.secret_seed != 0) page.line("secret seed", std::to_string(run.secret_seed));
  page.line("layer", run.validation ? "validation on" : "validation off");
  if (run.robust_access) page.line("access", "robust: the device checks each memory access of shaders");
  show_division(page, run);
}

std::string ns(double value) {
  return significant(value, 6) + " ns";
}

void show_timer(Page& page, const TimerCalibration& t) {
  page.section("timer");
  const bool measured = t.unit_ns > 0;
  if (measured || !t.note.empty()) {
    page.line("quality", joined({std::string(name_of(t.quality)), t.note}, ": "));
  }
  if (!measured) return page.line("unit", "not measured");
  page.line("unit", ns(t.unit_ns) + ", the larger of step and empty pair (95 %)");
  page.line("period", ns(t.period_ns) + " per tick");
  page.line("valid bits", std::to_string(t.valid_bits) + ", wraps after " + significant(t.wrap_s, 6) + " s");
  page.line("smallest step", ns(t.step_ns));
  page.line("empty pair", ns(t.pair_ns_p50) + " median, " + ns(t.pair_ns_p95) + " at 95 %");
  if (t.gpu_over_cpu > 0) {
    page.line("long dispatch",
              significant(t.gpu_over_cpu, 6) + " of its time on the CPU's clock (" + t.cross_check + ")");
  }
}

void show_rule_notes(Page& page, const std::vector<RuleNote>& notes) {
  if (notes.empty()) return;
  page.section("expectations");
  for (const RuleNote& rule : notes) {
    page.line("rule", fmt::format("{}  {}:{}:{}  {}  ({})\n{}", rule.state, rule.where.file, rule.where.line,
                                  rule.where.column, rule.match, rule.reason, rule.note));
  }
}

void show_ceilings(Page& page, const Ceilings& ceilings) {
  page.section("ceilings");
  for (const auto& [label, value] : ceiling_lines(ceilings)) page.line(label, value);
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

void Page::verdict(const Record& record) {
  title(name_of(record.status), ink_of(record.status),
        printable(record.info.id) + " (" + printable(mode_words(record.info)) + ")");
}

void Page::title(std::string_view word, Ink ink, const std::string& subject) {
  if (!text_.empty()) text_ += '\n';
  text_ += painted(word, ink, color_) + "  " + painted(subject, Ink::Bold, color_) + '\n';
}

void Page::section(const std::string& title) {
  text_ += '\n' + painted(title, Ink::Bold, color_) + '\n';
}

void Page::line(std::string_view label, std::string_view value) {
  while (value.ends_with('\n')) value.remove_suffix(1);
  if (value.empty()) return;
  std::string head = "  " + std::string(label);
  head.resize(std::max(value_column, head.size() + 1), ' ');
  text_ += head + indented(printable(value), value_column) + '\n';
}

std::string joined(std::initializer_list<std::string> parts, const std::string& separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

void show_run(Page& page, const RunInfo& run) {
  show_device(page, run.device);
  show_circumstances(page, run);
  show_timer(page, run.timer);
  if (!run.energy.empty()) {
    page.section("energy");
    page.line("told by", run.energy);
  }
  show_ceilings(page, run.ceilings);
  show_rule_notes(page, run.rule_notes);
}

}  // namespace assay
