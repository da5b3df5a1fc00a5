#include "harness/report/journal/codec.h"

#include "harness/base/error.h"
#include "harness/report/journal/json_fields.h"
#include "harness/report/journal/record_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

namespace assay {
namespace {

using json_fields::Json;
using json_fields::Style;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Whether the text is a number in JSON's grammar, which is stricter than from_chars.
bool is_json_number(std::string_view text) {
  const auto digits = [&] {
    std::size_t count = 0;
    while (count < text.size() && is_digit(text[count])) ++count;
    text.remove_prefix(count);
    return count;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool leading_zero = text.starts_with('0');
  const std::size_t whole = digits();
  if (whole == 0 || (leading_zero && whole > 1)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty();
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool skip(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  bool at_end() const { return text_.empty(); }

  /// Reads a text of printable ASCII without escapes, in quotes.
  bool word(std::string& value) {
    const std::size_t end = text_.starts_with('"') ? text_.find('"', 1) : text_.npos;
    if (end == text_.npos) return false;
    value = text_.substr(1, end - 1);
    const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '\\'; };
    if (!std::ranges::all_of(value, is_plain)) return false;
    text_.remove_prefix(end + 1);
    return true;
  }

  template <class T>
  bool number(T& value) {
    const std::size_t size = std::min(text_.find_first_of(",]}"), text_.size());
    const std::string_view digits = text_.substr(0, size);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + size, value);
    if (error != std::errc{} || end != digits.data() + size || !is_json_number(digits)) return false;
    text_.remove_prefix(size);
    return true;
  }

 private:
  std::string_view text_;
};

/// Reads members in the order in which they are written, with their names as in record_fields.h.
class SystemReader {
 public:
  explicit SystemReader(Scanner& scanner) : scanner_(scanner) {}

  void operator()(std::string_view name, double& value) {
    if (begins(name)) is_read_ = is_read_ && scanner_.number(value);
  }
  void operator()(std::string_view name, std::string& value) {
    if (begins(name)) is_read_ = is_read_ && scanner_.word(value);
  }
  bool is_read() const { return is_read_; }

 private:
  bool begins(std::string_view name) {
    const bool is_next = is_read_ && scanner_.skip(separator_ + std::string("\"").append(name) + "\":");
    if (is_next) separator_ = ",";
    return is_next;
  }

  Scanner& scanner_;
  std::string separator_;
  bool is_read_ = true;
};

bool read_system(Scanner& scanner, SystemState& state) {
  if (!scanner.skip("{")) return false;
  SystemReader reader(scanner);
  fields(reader, state);
  return reader.is_read() && scanner.skip("}");
}

bool read_block(Scanner& scanner, Block& block) {
  if (!scanner.skip(",\"round\":") || !scanner.number(block.round) || !scanner.skip(",\"batch\":") ||
      !scanner.number(block.batch) || !scanner.skip(",\"samples_ns\":["))
    return false;
  do {
    if (!scanner.number(block.samples_ns.emplace_back())) return false;
  } while (scanner.skip(","));
  if (!scanner.skip("]")) return false;
  if (scanner.skip(",\"probe_ns\":") && !scanner.number(block.probe_ns)) return false;
  return !scanner.skip(",\"system\":") || read_system(scanner, block.system);
}

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
  if (schema == run.end() || *schema == report_schema) return;  // decoding says what is wrong
  throw OtherSchema(fmt::format(
      "the journal has schema {}, and this assay reads schema {}: read it with the assay that wrote it",
      json_fields::brief(*schema), report_schema));
}

const Json& member(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) throw Error(std::string("the field '") + name + "' is missing");
  return *found;
}

RowIndex index_in(const Json& object, const char* name) {
  return json_fields::decode<RowIndex>(member(object, name), {name});
}

/// Larger than in any event: the functions that walk a value recurse for each level, and the stack is finite;
/// a value takes ten times the memory of its text, and members of an object are looked up one by one.
constexpr std::size_t deepest_nesting = 32;
constexpr std::size_t most_values = 1'000'000;
constexpr std::size_t most_lookups = 500'000'000;  // as for an object with 30,000 members

/// Upper bounds on what a line contains; exact where they exceed the limits.
struct LineSize {
  std::size_t nesting = 0;  ///< of lists and objects
  std::size_t values = 0;
  std::size_t lookups = 0;  ///< of members of the same object, to find each member of it
};

LineSize counted_size(std::string_view line) {
  LineSize size;
  std::vector<std::size_t> members{0};  // of each open list and object
  bool in_text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_text && c == '\\') ++i;
    if (c == '"') in_text = !in_text;
    if (in_text) continue;
    if (c == ',') ++size.values;
    if (c == ':') size.lookups += members.back()++;
    if (c == '[' || c == '{') members.push_back(0);
    if ((c == ']' || c == '}') && members.size() > 1) members.pop_back();
    size.nesting = std::max(size.nesting, members.size() - 1);
    if (size.nesting > deepest_nesting) break;
  }
  return size;
}

LineSize size_of(std::string_view line) {
  // Most lines have fewer brackets, commas and colons than that, and counting them is quick.
  const auto count = [&](char c) { return static_cast<std::size_t>(std::ranges::count(line, c)); };
  const std::size_t members = count(':');
  const LineSize size{.nesting = count('[') + count('{'), .values = count(','), .lookups = members * members};
  const bool is_small =
      size.nesting <= deepest_nesting && size.values < most_values && size.lookups <= most_lookups;
  return is_small ? size : counted_size(line);
}

/// Returns why a line is too much for a value; empty: it is not.
std::string why_too_much(std::string_view line) {
  const LineSize size = size_of(line);
  if (size.nesting > deepest_nesting)
    return fmt::format("lists and objects are nested more than {} deep", deepest_nesting);
  if (size.values >= most_values) return fmt::format("it has more than {} values", most_values);
  if (size.lookups > most_lookups) return "its objects have too many members";
  return "";
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
  if (const std::string why = why_too_much(line); !why.empty()) throw Error(why);
  try {
    return Json::parse(line);
  } catch (const Json::parse_error& error) {
    throw Error("it is not valid JSON from column " + std::to_string(error.byte) + " on");
  } catch (const Json::out_of_range&) {
    throw Error("a number in it is larger than any double");
  }
}

}  // namespace

std::optional<QuickLine> quick_line(std::string_view line) {
  Scanner scanner(line);
  QuickLine quick;
  const bool begins = scanner.skip(R"({"event":"begin","row":)");
  if (!begins && !scanner.skip(R"({"event":"block","row":)")) return std::nullopt;
  if (!scanner.number(quick.row)) return std::nullopt;
  if (!begins && !read_block(scanner, quick.block.emplace())) return std::nullopt;
  return scanner.skip("}") && scanner.at_end() ? std::optional(std::move(quick)) : std::nullopt;
}

nlohmann::ordered_json json_of(const RunInfo& info) {
  return json_fields::encode(info, Style::Full);
}

void EventLines::run(const RunInfo& info) {
  line(line_of(event_of("run"), info));
}

void EventLines::plan(std::span<const RowInfo> rows) {
  constexpr std::size_t longest = std::size_t{8} << 20;  // bytes: a reader's limit is JournalLimits::line
  do {
    Json object = event_of("plan");
    object["first"] = planned_;
    object["rows"] = Json::array();
    // Encoded row by row: as JSON values, the rows of a large run take ten times the memory of their text.
    constexpr std::string_view end = "]}";
    std::string text = object.dump();
    text.resize(text.size() - end.size());
    std::size_t taken = 0;
    for (; taken < rows.size() && text.size() < longest; ++taken) {
      if (taken > 0) text += ',';
      text += json_fields::encode(rows[taken], Style::Compact).dump();
    }
    planned_ += taken;
    rows = rows.subspan(taken);
    line(text.append(rows.empty() ? end : plan_goes_on));
  } while (!rows.empty());
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

bool may_be_event(std::string_view line) {
  constexpr std::string_view shortest = R"({"event":"done"})";
  return line.size() >= shortest.size() && why_too_much(line).empty() && Json::accept(line);
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
  const Json head = parse(plan->head);
  check_first(head, plan->rows.size());
  std::vector<RowInfo> rows;
  rows.reserve(plan->rows.size());
  for (const std::string_view row : plan->rows)
    rows.push_back(json_fields::decode<RowInfo>(parse(row), {"rows"}));
  take_rows(head, std::move(rows), listener);
  return true;
}

/// Checks that the rows of a plan line are those that follow.
void Decoder::check_first(const Json& plan, std::size_t rows) {
  const RowIndex first = index_in(plan, "first");
  if (first == planned_) pending_.clear();  // a run that was killed before the plan's last line began it anew
  if (first != planned_ + pending_.size()) {
    throw Error(fmt::format("it plans rows from {} on, but {} are planned so far", first,
                            planned_ + pending_.size()));
  }
  if (rows > most_rows_ - first) {
    throw Error(fmt::format("it plans row {}, and a run has at most {}", first + rows, most_rows_));
  }
}

/// Sends the plan, unless more lines of it follow.
void Decoder::take_rows(const Json& plan, std::vector<RowInfo> rows, RunListener& listener) {
  if (pending_.empty()) {
    pending_ = std::move(rows);
  } else {
    std::ranges::move(rows, std::back_inserter(pending_));
  }
  const auto more = plan.find("more");
  if (more != plan.end() && json_fields::decode<bool>(*more, {"more"})) return;
  const std::vector<RowInfo> all = std::exchange(pending_, {});
  planned_ += all.size();
  listener.plan(all);
}

void Decoder::check_block(const Block& block) {
  for (const double ns : block.samples_ns) json_fields::check_time(ns, "block.samples_ns");
  json_fields::check_not_negative(block.probe_ns, "block.probe_ns");
  if (block.batch < 1 || block.batch > Block::most_batch) {
    throw Error(fmt::format("the field 'block.batch' is {}, which is not a number of programs from 1 to {}",
                            block.batch, Block::most_batch));
  }
}

void Decoder::check_perf(const PerfResult& perf) {
  json_fields::check_not_negative(perf.setup_us, "end.perf.setup_us");
  json_fields::check_not_negative(perf.isolated_us, "end.perf.isolated_us");
  if (perf.energy) {
    json_fields::check_not_negative(perf.energy->joules, "end.perf.energy.joules", "energy");
    json_fields::check_not_negative(perf.energy->watts, "end.perf.energy.watts", "power");
  }
  for (const DispatchShare& dispatch : perf.dispatches)
    json_fields::check_not_negative(dispatch.time_us, "end.perf.dispatches.time_us");
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
  const Json& rows = member(object, "rows");
  check_first(object, rows.size());
  take_rows(object, json_fields::decode<std::vector<RowInfo>>(rows, {"rows"}), listener);
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
  if (name == "end") {
    const auto end = json_fields::decode<RowEnd>(object, {name});
    if (end.perf) check_perf(*end.perf);
    return listener.end(row(), end);
  }
  throw Error(
      fmt::format("the event \"{:.60}\" is unknown (run, plan, begin, judged, block, end, done)", name));
}

}  // namespace assay
