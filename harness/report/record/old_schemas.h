#pragma once

// Journals of schema 1 and 2. For codec.cpp alone: it brings all of nlohmann's header along.

#include "harness/report/record/codec.h"
#include "harness/report/record/row_key.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>

namespace assay {

/// Reads what they hold as the events of today: they name a row by its case instead of its index, and keep
/// its record as a whole.
class Decoder::OldSchemas {
 public:
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
