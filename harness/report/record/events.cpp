#include "harness/report/record/events.h"

#include "harness/base/clock.h"
#include "harness/base/statistics.h"
#include "harness/base/text.h"
#include "harness/report/record/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace assay {
namespace {

Record unfinished(const RowEvents& events) {
  Record record;
  record.status = events.running ? Status::Crash : Status::Missing;
  record.reason =
      events.running ? "the run ended while this case was running"
      : events.begun
          ? "not finished: the run ended while another case, which shares its data or its timing, was running"
          : "not reached: the run ended before it";
  return record;
}

Record finished(RowEvents&& events) {
  RowEnd& end = *events.end;
  Record record;
  record.status = end.status;
  record.reason = std::move(end.reason);
  record.retry = std::move(end.retry);
  record.driver_retry = std::move(end.driver_retry);
  record.stopped = end.stopped;
  record.own_end = std::move(end.own_end);
  record.accuracy = std::move(events.judged);
  record.perf = std::move(end.perf);
  record.chain = std::move(end.chain);
  record.validation_messages = end.validation_messages;
  record.validation_texts = std::move(end.validation_texts);
  record.total_ms = end.total_ms;
  record.spent = end.spent;
  if (record.perf) {
    describe_blocks(events.blocks, *record.perf);
    record.perf->output_hash = record.accuracy ? record.accuracy->output_hash : "";
  }
  return record;
}

/// The case's id: its row's id without the suffixes that distinguish the case's rows.
std::string_view case_id(const RowInfo& info) {
  std::string_view id = info.id;
  const auto drop = [&](std::string_view suffix) {
    if (id.ends_with(suffix)) id.remove_suffix(suffix.size());
  };
  if (info.versus) drop("/versus");
  if (info.cache == "cold") drop("/cold");
  return id;
}

}  // namespace

Record record_of(const RunInfo& run, RowEvents events) {
  RowInfo info = std::move(events.info);
  Record record = events.end ? finished(std::move(events)) : unfinished(events);
  record.repro = repro_line(run, info);
  record.info = std::move(info);
  return record;
}

RowEnd end_of(const Record& record) {
  return {.status = record.status,
          .reason = record.reason,
          .retry = record.retry,
          .driver_retry = record.driver_retry,
          .stopped = record.stopped,
          .own_end = record.own_end,
          .perf = record.perf,
          .chain = record.chain,
          .validation_messages = record.validation_messages,
          .validation_texts = record.validation_texts,
          .total_ms = record.total_ms,
          .spent = record.spent};
}

void describe_blocks(std::span<const Block> blocks, PerfResult& perf) {
  std::vector<double> all;
  std::vector<double> medians;
  perf.sample_us.clear();
  for (const Block& block : blocks) {
    const std::vector<double> ns = block.program_ns();
    if (ns.empty()) continue;
    all.insert(all.end(), ns.begin(), ns.end());
    medians.push_back(median(ns));
    std::vector<double>& out = perf.sample_us.emplace_back();
    for (const double value : ns) out.push_back(value / ns_per_us);
  }
  if (all.empty()) return;
  const Summary summary = summarize(all);
  perf.time_us_min = summary.min / ns_per_us;
  perf.time_us_p25 = summary.p25 / ns_per_us;
  perf.time_us_p50 = summary.p50 / ns_per_us;
  perf.time_us_p75 = summary.p75 / ns_per_us;
  perf.time_us_mean = summary.mean / ns_per_us;
  perf.time_us_stdev = summary.stdev / ns_per_us;
  const auto [low, high] = std::minmax_element(medians.begin(), medians.end());
  perf.spread_pct = summary.p50 > 0 ? 100 * (*high - *low) / summary.p50 : 0;
  perf.ci_pct = interval_pct(medians);
  perf.blocks = static_cast<int>(medians.size());
  perf.samples = static_cast<int>(all.size());
  perf.batch = blocks.front().batch;
}

std::string repro_line(const RunInfo& run, const RowInfo& info) {
  // A file name may look like an option.
  const std::string file = (info.where.file.starts_with('-') ? "./" : "") + info.where.file;
  std::string line =
      fmt::format("assay run {} --filter '{}' --mode {}", shell_word(file), case_id(info), info.mode);
  if (info.shaders) line += " --shaders " + shell_word(*info.shaders);
  return line + (run.repro_options.empty() ? "" : " ") + run.repro_options;
}

}  // namespace assay
