#include "harness/report/console/comparisons.h"

#include "harness/base/text.h"
#include "harness/report/console/style.h"
#include "harness/report/record/record.h"
#include "harness/report/record/words.h"

#include <fmt/core.h>

#include <cstddef>
#include <map>
#include <string>

namespace assay {
namespace {

constexpr int enough_blocks = 5;  // with fewer, the interval covers less than its nominal probability
constexpr double close_to_one = 1.1;

using Baselines = std::map<RowKey, const Record*>;

RowKey key_of_baseline(const Record& record) {
  RowKey key = key_of(record.info);
  key.id = record.comparison->baseline;
  return key;
}

/// The rows that others are compared with, found in one pass; null: the report has no such row.
Baselines baselines_of(const RunReport& report) {
  Baselines baselines;
  for (const Record& record : report.records) {
    if (record.comparison) baselines[key_of_baseline(record)] = nullptr;
  }
  if (baselines.empty()) return baselines;
  for (const Record& record : report.records) {
    const auto found = baselines.find(key_of(record.info));
    if (found != baselines.end() && found->second == nullptr) found->second = &record;
  }
  return baselines;
}

std::string shaders_of(const RowInfo& info) {
  return info.shaders ? "shaders " + *info.shaders : "the embedded shaders";
}

// Names the difference between the two rows.
std::string parties(const RowInfo& info, const RowInfo& baseline) {
  if (info.impl != baseline.impl) return info.impl + " vs " + baseline.impl;
  return shaders_of(info) + " vs " + shaders_of(baseline);
}

std::string factor(double value) {
  return fixed(value, value < close_to_one ? 3 : 2);
}

std::string verdict(const Comparison& c) {
  if (c.ratio_low <= 1 && c.ratio_high >= 1) {
    return fmt::format("no difference: the interval of the ratio contains 1 ({} .. {})",
                       fixed(c.ratio_low, 3), fixed(c.ratio_high, 3));
  }
  if (c.ratio < 1) {
    return fmt::format("{}x faster ({} .. {})", factor(1 / c.ratio), factor(1 / c.ratio_high),
                       factor(1 / c.ratio_low));
  }
  return fmt::format("{}x slower ({} .. {})", factor(c.ratio), factor(c.ratio_low), factor(c.ratio_high));
}

std::string compared(const Record& record, const Record& baseline) {
  const Comparison& c = *record.comparison;
  std::string text = fmt::format("{}, {} us -> {} us", verdict(c), fixed(baseline.perf->time_us_p50, 2),
                                 fixed(record.perf->time_us_p50, 2));
  if (c.blocks < enough_blocks) text += fmt::format("; only {} blocks: the interval says little", c.blocks);
  if (record.perf->spirv_hash == baseline.perf->spirv_hash)
    text += "; both have the same SPIR-V: the difference is noise";
  return text;
}

Ink ink_of(const Comparison& c) {
  if (c.ratio <= 0) return Ink::Magenta;
  if (c.ratio_low <= 1 && c.ratio_high >= 1) return Ink::Plain;
  return c.ratio < 1 ? Ink::Green : Ink::Red;
}

std::string line_of(const Baselines& baselines, const Record& record, bool color) {
  const Record* baseline = baselines.at(key_of_baseline(record));
  const std::string head = printable(record.info.id) + "  ";
  std::string text = baseline == nullptr ? "" : parties(record.info, baseline->info) + ": ";
  const bool has_ratio =
      record.comparison->ratio > 0 && baseline != nullptr && has_time(*baseline) && has_time(record);
  text += has_ratio ? compared(record, *baseline) : "not compared: " + record.comparison->note;
  return head + painted(printable(text), ink_of(*record.comparison), color) + '\n';
}

}  // namespace

std::string comparison_lines(const RunReport& report, bool color) {
  const Baselines baselines = baselines_of(report);
  std::string lines;
  std::map<std::string, std::size_t> without_baseline;  // by the reason why there is none
  for (const Record& record : report.records) {
    if (!record.comparison) continue;
    if (record.comparison->baseline.empty()) {
      ++without_baseline[record.comparison->note];
    } else {
      lines += line_of(baselines, record, color);
    }
  }
  for (const auto& [note, rows] : without_baseline) {
    lines +=
        fmt::format("{} {} compared: {}\n", rows, rows == 1 ? "row is not" : "rows are not", printable(note));
  }
  return lines;
}

}  // namespace assay
