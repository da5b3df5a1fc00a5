#include "harness/engine/run/row_ending.h"

#include <fmt/format.h>

#include <utility>

namespace assay {
namespace {

/// Turns a pass with validation messages into a failure: on another driver the program may do anything.
void blame_validation(Record& record) {
  if (record.status != Status::Pass || record.validation_messages == 0) return;
  record.status = Status::Fail;
  record.reason = fmt::format("the answer is right, but the validation layer has {} messages, the newest: {}",
                              record.validation_messages,
                              record.validation_texts.empty() ? "(no text)" : record.validation_texts.back());
  record.perf.reset();
}

}  // namespace

void end_row(DeviceRow& row, Outcome outcome, DeviceContext& context) {
  Record& record = row.record;
  record.status = outcome.status;
  record.reason = std::move(outcome.reason);
  row.messages.add(context.take_messages());
  record.validation_messages = row.messages.count;
  record.validation_texts = std::move(row.messages.texts);
  blame_validation(record);
  record.total_ms = row.judging_ms + row.timing_ms;
}

}  // namespace assay
