#include "harness/report/record/old_schemas.h"

#include "harness/base/error.h"
#include "harness/report/record/json_fields.h"
#include "harness/report/record/record_of.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace assay {
namespace {

const json_fields::Json& member(const json_fields::Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) throw Error(fmt::format("the field '{}' is missing", name));
  return *found;
}

}  // namespace

OldSchemas::OldSchemas(RunInfo run, const StoredRecord& stored_record)
    : run_(std::move(run)), stored_record_(stored_record) {}

void OldSchemas::event(const std::string& name, const nlohmann::ordered_json& object, RunListener& listener) {
  if (name == "plan") {
    return plan(json_fields::decode<std::vector<RowInfo>>(member(object, "cases"), {"cases", run_.schema}),
                listener);
  }
  if (name == "begin") {
    const auto info = json_fields::decode<RowInfo>(member(object, "case"), {"case", run_.schema});
    return listener.begin(index_of(info, listener));
  }
  if (name == "record") {
    const auto record = json_fields::decode<Record>(object, {"record", run_.schema});
    if (record.perf) {
      for (const std::vector<double>& block : record.perf->sample_us) {
        for (const double us : block) json_fields::check_time(us, "record.perf.sample_us");
      }
    }
    if (stored_record_) stored_record_(record);
    return tell_record(run_, index_of(record.info, listener), record, listener);
  }
  if (name == "end") return listener.done();
  throw Error(fmt::format("the event \"{:.60}\" is unknown (run, plan, begin, record, end)", name));
}

/// Only what was not planned before: a resumed run planned again the rows that were left.
void OldSchemas::plan(std::span<const RowInfo> rows, RunListener& listener) {
  std::vector<RowInfo> fresh;
  for (const RowInfo& info : rows) {
    if (rows_.try_emplace(key_of(info), rows_.size()).second) fresh.push_back(info);
  }
  listener.plan(fresh);
}

RowIndex OldSchemas::index_of(const RowInfo& info, RunListener& listener) {
  if (!rows_.contains(key_of(info))) plan({&info, 1}, listener);
  return rows_.at(key_of(info));
}

}  // namespace assay
