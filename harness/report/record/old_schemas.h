#pragma once

// Journals of schema 1 and 2. For codec.cpp alone: it brings all of nlohmann's header along.

#include "harness/report/record/events.h"
#include "harness/report/record/record.h"
#include "harness/report/record/row_key.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <span>
#include <string>

namespace assay {

/// Reads what they hold as the events of today: they name a row by its case instead of its index, and keep
/// its record as a whole.
class OldSchemas {
 public:
  /// Told each record as it stands in the journal (Decoder::StoredRecord).
  using StoredRecord = std::function<void(const Record&)>;

  OldSchemas(RunInfo run, const StoredRecord& stored_record);

  /// Events other than `run`. Throws Error as Decoder::line does.
  void event(const std::string& name, const nlohmann::ordered_json& object, RunListener& listener);

 private:
  void plan(std::span<const RowInfo> rows, RunListener& listener);
  RowIndex index_of(const RowInfo& info, RunListener& listener);

  RunInfo run_;
  const StoredRecord& stored_record_;
  std::map<RowKey, RowIndex> rows_;
};

}  // namespace assay
