#include "harness/report/record/codec.h"

#include "harness/base/error.h"
#include "harness/report/record/json_fields.h"
#include "harness/report/record/record_fields.h"

namespace assay {
namespace {

using json_fields::Json;

std::string line_of(const Json& object) {
  return object.dump();
}

Json event(const char* name) {
  return Json{{"event", name}};
}

/// Looked at first: a journal of another schema may lack any other field.
int schema_of(const Json& run) {
  const auto schema = run.find("schema");
  if (schema == run.end() || !schema->is_number_integer())
    return report_schema;  // decoding says what is wrong
  if (*schema >= 1 && *schema <= report_schema) return schema->get<int>();
  throw Error("it has schema " + schema->dump() + " and this assay reads schemas 1 to " +
              std::to_string(report_schema) + ": read it with the assay that wrote it");
}

const Json& member(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) throw Error(std::string("the field '") + name + "' is missing");
  return *found;
}

Json parse(std::string_view line) {
  try {
    return Json::parse(line);
  } catch (const Json::parse_error& error) {
    throw Error("it is not JSON from column " + std::to_string(error.byte) + " on");
  }
}

}  // namespace

nlohmann::ordered_json json_of(const RunInfo& info) {
  return json_fields::encode(info);
}

std::string encode_run(const RunInfo& info) {
  Json object = event("run");
  object.update(json_fields::encode(info));
  return line_of(object);
}

std::string encode_plan(std::span<const RowInfo> cases) {
  Json object = event("plan");
  Json& list = object["cases"] = Json::array();
  for (const RowInfo& info : cases) list.push_back(json_fields::encode(info));
  return line_of(object);
}

std::string encode_begin(const RowInfo& info) {
  Json object = event("begin");
  object["case"] = json_fields::encode(info);
  return line_of(object);
}

std::string encode_record(const Record& record) {
  Json object = event("record");
  object.update(json_fields::encode(record));
  return line_of(object);
}

std::string encode_end() {
  return line_of(event("end"));
}

std::string encode_ceilings(const Ceilings& ceilings) {
  return line_of(json_fields::encode(ceilings));
}

Ceilings decode_ceilings(std::string_view text) {
  return json_fields::decode<Ceilings>(parse(text), {"ceilings", report_schema});
}

void Decoder::line(std::string_view line, RunListener& listener) {
  const Json object = parse(line);
  if (!object.is_object()) throw Error("it is not a JSON object");
  const Json& name = member(object, "event");
  if (name == "run") {
    schema_ = schema_of(object);
    return listener.run(json_fields::decode<RunInfo>(object, {"run", schema_}));
  }
  if (name == "plan") {
    const Json& cases = member(object, "cases");
    return listener.plan(json_fields::decode<std::vector<RowInfo>>(cases, {"cases", schema_}));
  }
  if (name == "begin") {
    return listener.begin(json_fields::decode<RowInfo>(member(object, "case"), {"case", schema_}));
  }
  if (name == "record") return listener.record(json_fields::decode<Record>(object, {"record", schema_}));
  if (name == "end") return listener.end();
  throw Error("the event " + name.dump() + " is unknown (run, plan, begin, record, end)");
}

}  // namespace assay
