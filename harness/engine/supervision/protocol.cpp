#include "harness/engine/supervision/protocol.h"

#include "harness/base/names.h"
#include "harness/report/journal/json_fields.h"

#include <fmt/format.h>

#include <utility>

namespace assay {
namespace {

using json_fields::Json;
using json_fields::Style;

constexpr Names<3> signal_names{"idle", "wants_to_time", "timed"};

}  // namespace

/// Rows [first, last] of a plan; shorter than a list of all numbers.
using Range = std::array<RowIndex, 2>;

/// RowsLeft in the form in which it is sent.
struct RowsText {
  std::vector<Range> rows;
  bool all = false;
  bool one_by_one = false;      ///< no row is prepared ahead
  std::vector<RowIndex> begun;  ///< rows with progress, in the order of the next two lists
  std::vector<std::string> hashes;
  std::vector<std::vector<Block>> blocks;
};

template <class Visit>
void fields(Visit& visit, Is<OpenRequest> auto& x) {
  visit("protocol", x.protocol, always);
  visit("command", x.command);
  visit("run_id", x.run_id);
  visit("directory", x.directory);
  visit("only_devices", x.only_devices);
  visit("device", x.device);
  visit("uuid", x.uuid);
  visit("shard", x.shard);
  visit("secret_seed", x.secret_seed);
  visit("jobs", x.jobs);
  visit("timer", x.timer);
  visit("ceilings", x.ceilings);
}

template <class Visit>
void fields(Visit& visit, Is<RowsText> auto& x) {
  visit("rows", x.rows);
  visit("all", x.all);
  visit("one_by_one", x.one_by_one);
  visit("begun", x.begun);
  visit("hashes", x.hashes);
  visit("blocks", x.blocks);
}

template <class Visit>
void fields(Visit& visit, Is<ChosenDevice> auto& x) {
  visit("info", x.info, always);
  visit("slug", x.slug, always);
}

template <class Visit>
void fields(Visit& visit, Is<DevicesEvent> auto& x) {
  visit("devices", x.devices, always);
}

template <class Visit>
void fields(Visit& visit, Is<RefusedEvent> auto& x) {
  visit("text", x.text, always);
  visit("code", x.code, always);
}

template <class Visit>
void fields(Visit& visit, Is<CannotGoOnEvent> auto& x) {
  visit("text", x.text, always);
}

template <class Visit>
void fields(Visit& visit, Is<LogEvent> auto& x) {
  visit("text", x.text, always);
}

namespace {

RowsText text_of(const RowsLeft& left) {
  RowsText text{.all = left.wanted.empty(), .one_by_one = !left.may_prepare};
  for (RowIndex row = 0; row < left.wanted.size(); ++row) {
    if (!left.wanted[row]) continue;
    const bool goes_on = !text.rows.empty() && text.rows.back()[1] + 1 == row;
    if (!goes_on) text.rows.push_back({row, row});
    text.rows.back()[1] = row;
  }
  for (const auto& [row, progress] : left.progress) {
    text.begun.push_back(row);
    text.hashes.push_back(progress.output_hash);
    text.blocks.push_back(progress.blocks);
  }
  return text;
}

RowsLeft rows_of(const RowsText& text) {
  constexpr RowIndex most_rows = 100'000'000;  // a larger number is invalid and would use up all memory
  RowsLeft left;
  left.may_prepare = !text.one_by_one;
  for (const auto& [first, last] : text.rows) {
    if (first > last || last >= most_rows)
      throw Error(fmt::format("there are no rows {} to {}", first, last));
    if (left.wanted.size() <= last) left.wanted.resize(last + 1);
    for (RowIndex row = first; row <= last; ++row) left.wanted[row] = true;
  }
  if (!text.all && left.wanted.empty())
    left.wanted.push_back(false);  // means no rows; an empty list would mean all
  if (text.hashes.size() != text.begun.size() || text.blocks.size() != text.begun.size())
    throw Error("the rows that have begun, their hashes and their blocks differ in number");
  for (std::size_t i = 0; i < text.begun.size(); ++i)
    left.progress[text.begun[i]] = {text.hashes[i], text.blocks[i]};
  return left;
}

template <class T>
std::string line_of(const char* key, std::string_view name, const T& value) {
  Json object{{key, name}};
  object.update(json_fields::encode(value, Style::Compact));
  return object.dump();
}

template <class T>
T decoded(const Json& object, const char* name) {
  return json_fields::decode<T>(object, {name});
}

Json parsed(std::string_view line) {
  try {
    Json object = Json::parse(line);
    if (!object.is_object()) throw Error("it is not a JSON object");
    return object;
  } catch (const Json::exception&) {
    throw Error("it is not JSON");
  }
}

std::string text_member(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) throw Error(fmt::format("the field '{}' is missing", name));
  return decoded<std::string>(*found, name);
}

PhaseEvent phase_event(const Json& object) {
  const std::string name = text_member(object, "phase");
  const std::optional<Phase> phase = parse_phase(name);
  if (!phase) throw Error(fmt::format("the phase '{:.40}' is unknown", name));
  const auto limit = object.find("limit_s");
  return {*phase, limit == object.end() ? 0 : decoded<double>(*limit, "limit_s")};
}

struct RequestEncoder {
  std::string operator()(const OpenRequest& request) const { return line_of("request", "open", request); }
  std::string operator()(const RowsLeft& rows) const { return line_of("request", "rows", text_of(rows)); }
  std::string operator()(const TimeRequest&) const { return R"({"request":"time"})"; }
  std::string operator()(const StopRequest&) const { return R"({"request":"stop"})"; }
};

struct EventEncoder {
  std::string operator()(const DevicesEvent& event) const { return line_of("worker", "devices", event); }
  std::string operator()(const PhaseEvent& event) const {
    Json object{{"worker", "phase"}, {"phase", name_of(event.phase)}};
    if (event.limit_s > 0) object["limit_s"] = event.limit_s;
    return object.dump();
  }
  std::string operator()(WorkerSignal signal) const { return Json{{"worker", name_of(signal)}}.dump(); }
  std::string operator()(const RefusedEvent& event) const { return line_of("worker", "refused", event); }
  std::string operator()(const CannotGoOnEvent& event) const {
    return line_of("worker", "cannot_go_on", event);
  }
  std::string operator()(const LogEvent& event) const { return line_of("worker", "log", event); }
};

}  // namespace

std::string_view name_of(WorkerSignal signal) {
  return name_in(signal_names, signal);
}

std::string encode(const WorkerRequest& request) {
  return std::visit(RequestEncoder{}, request);
}

WorkerRequest decode_request(std::string_view line) {
  const Json object = parsed(line);
  const std::string name = text_member(object, "request");
  if (name == "rows") return rows_of(decoded<RowsText>(object, "rows"));
  if (name == "time") return TimeRequest{};
  if (name == "stop") return StopRequest{};
  if (name != "open") throw Error(fmt::format("the request '{:.40}' is unknown", name));
  auto open = decoded<OpenRequest>(object, "open");
  if (open.protocol == worker_protocol) return open;
  throw Error(
      fmt::format("the supervisor speaks version {} of the protocol and this assay version {}: use "
                  "the same assay on both sides",
                  open.protocol, worker_protocol));
}

std::string encode(const WorkerEvent& event) {
  return std::visit(EventEncoder{}, event);
}

std::optional<WorkerEvent> decode_worker_event(std::string_view line) {
  if (line.starts_with(R"({"event":)")) return std::nullopt;
  const Json object = parsed(line);
  if (!object.contains("worker")) return std::nullopt;
  const std::string name = text_member(object, "worker");
  if (name == "phase") return phase_event(object);
  if (const auto signal = value_in<WorkerSignal>(signal_names, name)) return *signal;
  if (name == "devices") return decoded<DevicesEvent>(object, "devices");
  if (name == "refused") return decoded<RefusedEvent>(object, "refused");
  if (name == "cannot_go_on") return decoded<CannotGoOnEvent>(object, "cannot_go_on");
  if (name == "log") return decoded<LogEvent>(object, "log");
  throw Error(fmt::format("the worker's event '{:.40}' is unknown", name));
}

}  // namespace assay
