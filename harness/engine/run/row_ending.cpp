#include "harness/engine/run/row_ending.h"

#include <fmt/format.h>

#include <utility>

namespace assay {
namespace {

/// A pass with validation messages is no pass: another driver may do anything with that program.
void blame_validation(Record& record, const DeviceRunOptions& options) {
  if (record.status != Status::Pass || record.validation_messages == 0) return;
  record.status = Status::Fail;
  record.reason = fmt::format("the answer is right, but the validation layer has {} messages, the newest: {}",
                              record.validation_messages, options.newest_validation_message());
  record.perf.reset();
}

/// The row's ratio, or why there is none.
Comparison comparison_of(const DeviceRow& row, const DeviceContext& context) {
  const std::optional<std::size_t> baseline = row.baseline().row;
  if (!baseline) {
    return {.note = fmt::format("no row of impl '{}' in the same forms is timed in this group",
                                context.options.baseline_impl)};
  }
  Comparison made{.baseline = context.info_of(row.group->planned[*baseline]).id};
  if (!row.record.perf) {
    made.note = fmt::format("this row is {}", name_of(row.record.status));
  } else if (row.group->ended[*baseline] != Status::Pass || !row.ratio) {
    made.note = fmt::format("its baseline {} is {}", made.baseline, name_of(row.group->ended[*baseline]));
  } else {
    made.ratio = row.ratio->median;
    made.ratio_low = row.ratio->interval.low;
    made.ratio_high = row.ratio->interval.high;
    made.blocks = row.ratio->pairs;
  }
  return made;
}

}  // namespace

void end_row(DeviceRow& row, Outcome outcome, DeviceContext& context) {
  Record& record = row.record;
  record.status = outcome.status;
  record.reason = std::move(outcome.reason);
  record.validation_messages = row.validation_messages + context.take_messages();
  blame_validation(record, context.options);
  if (row.baseline().wanted) record.comparison = comparison_of(row, context);
  record.total_ms = row.judging_ms + row.timing_ms;
  row.group->ended[row.index] = record.status;
}

}  // namespace assay
