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

}  // namespace

void end_row(DeviceRow& row, Outcome outcome, DeviceContext& context) {
  Record& record = row.record;
  record.status = outcome.status;
  record.reason = std::move(outcome.reason);
  record.validation_messages = row.validation_messages + context.take_messages();
  blame_validation(record, context.options);
  record.total_ms = row.judging_ms + row.timing_ms;
}

}  // namespace assay
