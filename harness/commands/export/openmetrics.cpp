#include "harness/commands/export/openmetrics.h"

#include "harness/base/clock.h"
#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/record/device_name.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <optional>

namespace assay::app {
namespace {

constexpr double per_giga = 1e9;
constexpr double per_cent = 100;

constexpr std::string_view run_start = "assay_run_start_time_seconds";
constexpr std::string_view rows_by_status = "assay_rows";
constexpr std::string_view row_time = "assay_row_time_seconds";
constexpr std::string_view row_interval = "assay_row_interval_ratio";
constexpr std::string_view row_ceiling = "assay_row_ceiling_ratio";
constexpr std::string_view operations = "assay_ceiling_operations_per_second";
constexpr std::string_view bandwidth = "assay_ceiling_bytes_per_second";
constexpr std::string_view dispatch = "assay_dispatch_spacing_seconds";

constexpr std::array families{
    MetricFamily{run_start, "seconds", "driver, version, host, run_id", "When the run began (Unix time)."},
    MetricFamily{rows_by_status, "", "status", "Rows of the run that ended in this status."},
    MetricFamily{row_time, "seconds", "op, impl, id, cache", "Median time of one program."},
    MetricFamily{row_interval, "ratio", "op, impl, id, cache",
                 "Half width of the interval of that median, as a share of the median."},
    MetricFamily{row_ceiling, "ratio", "op, impl, id, cache", "Share of the nearer ceiling."},
    MetricFamily{operations, "operations_per_second", "ceiling",
                 "Rate of operations that the device reached, 2 per multiply-add."},
    MetricFamily{bandwidth, "bytes_per_second", "footprint_bytes, access",
                 "Bandwidth that the device reached at a footprint: copy, read or write."},
    MetricFamily{dispatch, "seconds", "", "Spacing of empty dispatches."}};

std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : printable(value)) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  return text;
}

/// As many digits as a time in seconds since 1970 and every measured figure need: "4.9e-06".
std::string number_text(double value) {
  return fmt::format("{:.12g}", value);
}

Labels with(Labels labels, const Labels& more) {
  labels.insert(labels.end(), more.begin(), more.end());
  return labels;
}

}  // namespace

std::optional<std::int64_t> unix_seconds(const std::string& utc) {
  std::tm parts{};
  if (::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == nullptr) return std::nullopt;
  const std::time_t seconds = ::timegm(&parts);
  const bool is_exact = utc_text(std::chrono::system_clock::from_time_t(seconds)) == utc;  // no 31 February
  return is_exact ? std::optional<std::int64_t>(seconds) : std::nullopt;
}

std::span<const MetricFamily> metric_families() {
  return families;
}

std::string metric_families_markdown() {
  std::string text = "| family | unit | labels | meaning |\n|---|---|---|---|\n";
  for (const MetricFamily& family : families) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", family.name,
                        family.unit.empty() ? "number" : family.unit, family.labels, family.help);
  }
  return text;
}

std::string labels_text(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "{" : ",", name, escaped(value));
  }
  return text + "}";
}

bool OpenMetrics::add(const RunReport& report) {
  const std::optional<std::int64_t> start = unix_seconds(report.run.started_utc);
  if (!start) return false;
  time_s_ = *start;
  device_ = device_key(report.run) + (report.run.robust_access ? ", robust access" : "") +
            (report.run.validation ? ", validation layer" : "");
  const auto [newest, is_first] = newest_s_.try_emplace(device_, time_s_);
  newest->second = std::max(newest->second, time_s_);
  Labels device{{"device", report.run.device.name}, {"device_key", device_key(report.run)}};
  if (report.run.robust_access) device.emplace_back("robust_access", "true");
  if (report.run.validation) device.emplace_back("validation", "true");
  add_run(report, device);
  add_ceilings(report.run.ceilings, device);
  for (const Record& record : report.records) {
    if (has_time(record)) add_row(record, device);
  }
  return true;
}

void OpenMetrics::add_value(std::string_view family, const Labels& labels, double value) {
  if (!std::isfinite(value)) return;
  Series& series = families_[family][labels_text(labels)];
  series.device = device_;
  series.values[time_s_] = value;
}

void OpenMetrics::add_run(const RunReport& report, const Labels& device) {
  const RunInfo& run = report.run;
  add_value(run_start,
            with(device, {{"driver", driver_of(run.device)},
                          {"version", run.version},
                          {"host", run.host},
                          {"run_id", run.run_id}}),
            static_cast<double>(time_s_));
  // Zeros too: an alert can then tell "none" from "no run".
  std::map<Status, int> counts;
  for (int i = 0; i <= static_cast<int>(Status::Interrupted); ++i) counts[static_cast<Status>(i)] = 0;
  for (const Record& record : report.records) ++counts[record.status];
  for (const auto& [status, count] : counts)
    add_value(rows_by_status, with(device, {{"status", std::string(name_of(status))}}), count);
}

void OpenMetrics::add_ceilings(const Ceilings& ceilings, const Labels& device) {
  for (const Ceiling ceiling :
       {Ceiling::Fp32, Ceiling::Fp16, Ceiling::Dot4x8, Ceiling::CoopInt8, Ceiling::CoopFp16}) {
    const double gops = ceilings.gops(ceiling);
    if (gops > 0)
      add_value(operations, with(device, {{"ceiling", std::string(name_of(ceiling))}}), gops * per_giga);
  }
  for (const BandwidthPoint& point : ceilings.bandwidth) {
    const auto add = [&](const std::string& access, double gbps) {
      const std::string bytes = std::to_string(point.footprint_bytes);
      add_value(bandwidth, with(device, {{"footprint_bytes", bytes}, {"access", access}}), gbps * per_giga);
    };
    add("copy", point.copy_gbps);
    add("read", point.read_gbps);
    add("write", point.write_gbps);
  }
  if (ceilings.dispatch_us > 0) add_value(dispatch, device, ceilings.dispatch_us / us_per_s);
}

void OpenMetrics::add_row(const Record& record, const Labels& device) {
  const RowInfo& row = record.info;
  const PerfResult& perf = *record.perf;
  const Labels labels =
      with(device, {{"op", row.op}, {"impl", row.impl}, {"id", row.id}, {"cache", row.cache}});
  add_value(row_time, labels, perf.time_us_p50 / us_per_s);
  if (perf.ci_pct > 0) add_value(row_interval, labels, perf.ci_pct / per_cent);
  const double share = percent_of_peak(perf);
  if (share > 0) add_value(row_ceiling, labels, share / per_cent);
}

std::string OpenMetrics::samples(std::string_view name, const std::string& labels, const Series& series,
                                 Times times) const {
  std::string text;
  if (times == Times::All) {
    for (const auto& [time_s, value] : series.values)
      text += fmt::format("{}{} {} {}\n", name, labels, number_text(value), time_s);
  } else if (const auto& [time_s, value] = *series.values.rbegin(); time_s == newest_s_.at(series.device)) {
    text = fmt::format("{}{} {}\n", name, labels, number_text(value));
  }
  return text;
}

std::string OpenMetrics::text(Times times) const {
  std::string text;
  for (const MetricFamily& family : families) {
    const auto found = families_.find(family.name);
    if (found == families_.end()) continue;
    text += fmt::format("# TYPE {} gauge\n", family.name);
    if (!family.unit.empty()) text += fmt::format("# UNIT {} {}\n", family.name, family.unit);
    text += fmt::format("# HELP {} {}\n", family.name, family.help);
    for (const auto& [labels, series] : found->second) text += samples(family.name, labels, series, times);
  }
  return text + "# EOF\n";
}

}  // namespace assay::app
