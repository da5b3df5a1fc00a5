#include "harness/report/journal/codec.h"

#include "harness/base/error.h"
#include "harness/report/journal/json_fields.h"
#include "harness/report/journal/quick_line.h"
#include "harness/report/journal/record_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace assay {
namespace {

using json_fields::Json;
using json_fields::Style;

Json event_of(const char* name) {
  return Json{{"event", name}};
}

Json event_of(const char* name, RowIndex row) {
  Json object = event_of(name);
  object["row"] = row;
  return object;
}

template <class T>
std::string line_of(Json object, const T& value) {
  object.update(json_fields::encode(value, Style::Compact));
  return object.dump();
}

/// Refuses the journal of another schema. Checked first: any other field may be missing in it.
void check_schema(const Json& run) {
  const auto schema = run.find("schema");
  if (schema == run.end() || !schema->is_number_integer()) return;  // decoding says what is wrong
  if (*schema == report_schema) return;
  throw OtherSchema(fmt::format(
      "the journal has schema {}, and this assay reads schema {}: read it with the assay that wrote it",
      schema->dump(), report_schema));
}

const Json& member(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) throw Error(std::string("the field '") + name + "' is missing");
  return *found;
}

RowIndex index_in(const Json& object, const char* name) {
  return json_fields::decode<RowIndex>(member(object, name), {name});
}

/// Deeper than any event. The functions that walk a value recurse for each level, and the stack is finite.
constexpr int deepest_nesting = 32;

/// An upper bound on how deep lists and objects of a line are nested; exact where it is above
/// deepest_nesting.
int nesting_of(std::string_view line) {
  // Most lines have fewer brackets than that, and counting them is quick.
  const auto opened = std::ranges::count(line, '[') + std::ranges::count(line, '{');
  if (opened <= deepest_nesting) return static_cast<int>(opened);
  int depth = 0;
  int deepest = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_text && c == '\\') ++i;
    if (c == '"') in_text = !in_text;
    if (in_text) continue;
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return deepest;
}

/// A plan line split into its rows and the rest. Parsed as one value, the rows of a large run would take many
/// times the memory of their text.
struct PlanLine {
  std::string head;  ///< the line with an empty list of rows
  std::vector<std::string_view> rows;
};

/// Splits a line that EventLines::plan() may have written; nullopt for any other line. The line need not be
/// valid JSON: parsing the parts finds that out.
std::optional<PlanLine> plan_line(std::string_view line) {
  constexpr std::string_view rows_key = R"("rows":[)";
  if (!line.starts_with(R"({"event":"plan",)")) return std::nullopt;
  const std::size_t key = line.find(rows_key);
  if (key == line.npos) return std::nullopt;
  PlanLine plan;
  std::size_t begin = key + rows_key.size();
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = begin; i < line.size(); ++i) {
    const char c = line[i];
    if (in_text && c == '\\') ++i;
    if (c == '"') in_text = !in_text;
    if (in_text) continue;
    if (depth == 0 && (c == ',' || c == ']')) {
      if (c == ',' || i > begin || !plan.rows.empty()) plan.rows.push_back(line.substr(begin, i - begin));
      begin = i + 1;
      if (c == ',') continue;
      plan.head = std::string(line.substr(0, key + rows_key.size())) + std::string(line.substr(i));
      return plan;
    }
    depth += (c == '[' || c == '{') ? 1 : (c == ']' || c == '}') ? -1 : 0;
  }
  return std::nullopt;
}

Json parse(std::string_view line) {
  if (nesting_of(line) > deepest_nesting)
    throw Error(fmt::format("lists and objects are nested more than {} deep", deepest_nesting));
  try {
    return Json::parse(line);
  } catch (const Json::parse_error& error) {
    throw Error("it is not valid JSON from column " + std::to_string(error.byte) + " on");
  } catch (const Json::out_of_range&) {
    throw Error("a number in it is larger than any double");
  }
}

}  // namespace

nlohmann::ordered_json json_of(const RunInfo& info) {
  return json_fields::encode(info, Style::Full);
}

void EventLines::run(const RunInfo& info) {
  line(line_of(event_of("run"), info));
}

void EventLines::plan(std::span<const RowInfo> rows) {
  Json object = event_of("plan");
  object["first"] = planned_;
  object["rows"] = Json::array();
  // Encoded row by row: as JSON values, the rows of a large run take ten times the memory of their text.
  constexpr std::string_view end = "]}";
  std::string text = object.dump();
  text.resize(text.size() - end.size());
  for (const RowInfo& info : rows) {
    if (!text.ends_with('[')) text += ',';
    text += json_fields::encode(info, Style::Compact).dump();
  }
  planned_ += rows.size();
  line(text.append(end));
}

void EventLines::begin(RowIndex row) {
  line(event_of("begin", row).dump());
}

void EventLines::judged(RowIndex row, const AccuracyResult& accuracy) {
  line(line_of(event_of("judged", row), accuracy));
}

void EventLines::block(RowIndex row, const Block& block) {
  line(line_of(event_of("block", row), block));
}

void EventLines::end(RowIndex row, const RowEnd& end) {
  line(line_of(event_of("end", row), end));
}

void EventLines::done() {
  line(event_of("done").dump());
}

std::string encode_ceilings(const Ceilings& ceilings) {
  return json_fields::encode(ceilings, Style::Full).dump();
}

Ceilings decode_ceilings(std::string_view text) {
  return json_fields::decode<Ceilings>(parse(text), {"ceilings"});
}

/// Reads a plan line and returns true; returns false for any other line, which line() reads.
bool Decoder::plan(std::string_view line, RunListener& listener) {
  const std::optional<PlanLine> plan = plan_line(line);
  if (!plan) return false;
  check_first(parse(plan->head));
  std::vector<RowInfo> rows;
  rows.reserve(plan->rows.size());
  for (const std::string_view row : plan->rows)
    rows.push_back(json_fields::decode<RowInfo>(parse(row), {"rows"}));
  planned_ += rows.size();
  listener.plan(rows);
  return true;
}

void Decoder::check_first(const Json& plan) const {
  const RowIndex first = index_in(plan, "first");
  if (first != planned_)
    throw Error(fmt::format("it plans rows from {} on, but {} are planned so far", first, planned_));
}

void Decoder::check_block(const Block& block) {
  for (const double ns : block.samples_ns) json_fields::check_time(ns, "block.samples_ns");
}

RowIndex Decoder::checked(RowIndex row) const {
  if (row < planned_) return row;
  throw Error(fmt::format("it is about row {}, but only {} are planned", row, planned_));
}

/// Reads a line that needs no JSON value and returns true; false for any other line.
bool Decoder::quick(std::string_view line, RunListener& listener) const {
  const std::optional<QuickLine> quick = quick_line(line);
  if (!quick) return false;
  if (quick->block) {
    check_block(*quick->block);
    listener.block(checked(quick->row), *quick->block);
  } else {
    listener.begin(checked(quick->row));
  }
  return true;
}

void Decoder::line(std::string_view line, RunListener& listener) {
  if (quick(line, listener) || plan(line, listener)) return;
  const Json object = parse(line);
  if (!object.is_object()) throw Error("it is not a JSON object");
  const Json& name = member(object, "event");
  event(json_fields::decode<std::string>(name, {"event"}), object, listener);
}

void Decoder::event(const std::string& name, const Json& object, RunListener& listener) {
  if (name == "run") {
    check_schema(object);
    return listener.run(json_fields::decode<RunInfo>(object, {"run"}));
  }
  if (name == "done") return listener.done();
  if (name != "plan") return row_event(name, object, listener);
  check_first(object);
  const auto rows = json_fields::decode<std::vector<RowInfo>>(member(object, "rows"), {"rows"});
  planned_ += rows.size();
  listener.plan(rows);
}

void Decoder::row_event(const std::string& name, const Json& object, RunListener& listener) {
  const auto row = [&] { return checked(index_in(object, "row")); };
  if (name == "begin") return listener.begin(row());
  if (name == "judged") return listener.judged(row(), json_fields::decode<AccuracyResult>(object, {name}));
  if (name == "block") {
    const auto block = json_fields::decode<Block>(object, {name});
    check_block(block);
    return listener.block(row(), block);
  }
  if (name == "end") return listener.end(row(), json_fields::decode<RowEnd>(object, {name}));
  throw Error(
      fmt::format("the event \"{:.60}\" is unknown (run, plan, begin, judged, block, end, done)", name));
}

}  // namespace assay
