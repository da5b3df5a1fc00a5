#include "harness/report/html/page_data.h"

#include "harness/base/error.h"
#include "harness/device/driver_name.h"
#include "harness/report/compare/compare.h"
#include "harness/report/compare/machine_shift.h"
#include "harness/report/compare/row_side.h"
#include "harness/report/html/models.h"
#include "harness/report/html/page_rows.h"
#include "harness/report/journal/codec.h"
#include "harness/report/record/device_name.h"
#include "harness/report/record/failure_groups.h"
#include "harness/report/record/run_kind.h"
#include "harness/report/trend/trend_report.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <zlib.h>

namespace assay {
namespace {

constexpr double scatter = 0.02;

struct Circumstance {
  std::string_view what;
  std::function<std::string(const RunInfo&)> value;
};

std::string cores_of(const RunInfo& run) {
  return run.cpu + ", " + std::to_string(run.cores) + " cores";
}

std::string variables_of(const RunInfo& run) {
  std::string text;
  for (const auto& [name, value] : run.environment)
    text.append(text.empty() ? "" : " ").append(name).append("=").append(value);
  return text;
}

std::string input(const RunInfo& run, const char* name) {
  const auto at = run.inputs.find(name);
  return at == run.inputs.end() ? "" : at->second;
}

std::vector<Circumstance> circumstances() {
  return {
      {"device", [](const RunInfo& run) { return run.device.name; }},
      {"driver", [](const RunInfo& run) { return driver_of(run.device); }},
      {"Vulkan", [](const RunInfo& run) { return run.device.api_version; }},
      {"assay", [](const RunInfo& run) { return run.version; }},
      {"compiler", [](const RunInfo& run) { return run.compiler; }},
      {"build type", [](const RunInfo& run) { return run.build_type; }},
      {"host", [](const RunInfo& run) { return run.host; }},
      {"operating system", [](const RunInfo& run) { return run.os; }},
      {"CPU", cores_of},
      {"loader's variables", variables_of},
      {"seed", [](const RunInfo& run) { return std::to_string(run.seed); }},
      {"validation layer", [](const RunInfo& run) { return std::string(run.validation ? "on" : "off"); }},
      {"robust buffer access",
       [](const RunInfo& run) { return std::string(run.robust_access ? "on" : "off"); }},
      {"ceilings' kernels (hash)", [](const RunInfo& run) { return run.ceilings.kernels; }},
  };
}

/// What the inputs of a run are called, by their names in RunInfo::inputs.
constexpr std::array<std::pair<const char*, const char*>, 9> input_names{{
    {"binary", "binary (hash)"},
    {"cases", "case files (hash)"},
    {"expectations", "expectations (hash)"},
    {"shaders", "shader folder (hash)"},
    {"versus_shaders", "folder of --versus-shaders (hash)"},
    {"ops", "folders of --ops (hash)"},
    {"tuning", "entries of the tuning file (hash)"},
    {"times", "report in --times (hash)"},
    {"as_if", "limits in --as-if (hash)"},
}};

// A higher level would take twice as long and save a tenth of the size.
constexpr int level = 4;

std::string deflated(std::string_view text) {
  uLongf size = compressBound(text.size());
  std::string bytes(size, '\0');
  const int code = compress2(reinterpret_cast<Bytef*>(bytes.data()), &size,
                             reinterpret_cast<const Bytef*>(text.data()), text.size(), level);
  if (code != Z_OK) {
    throw Error("compressing the data of a page: zlib returned error " + std::to_string(code),
                ExitCode::Infrastructure);
  }
  bytes.resize(size);
  return bytes;
}

using RecordsByKey = std::map<RowKey, const Record*>;

RecordsByKey records_of(const RunReport* report) {
  RecordsByKey records;
  if (!report) return records;
  for (const Record& record : report->records) records.emplace(key_of(record.info), &record);
  return records;
}

const Record* found(const RecordsByKey& records, const RowKey& key) {
  const auto at = records.find(key);
  return at == records.end() ? nullptr : at->second;
}

/// The rows of a track: the newest run's in its order, then rows that only the base has.
std::vector<PageRow> rows_of(const RunReport& newest, const RunComparison* comparison) {
  std::map<RowKey, const RowVerdict*> verdicts;
  std::vector<PageRow> rows;
  if (comparison) {
    for (const RowVerdict& verdict : comparison->rows) verdicts.emplace(key_of(verdict.info), &verdict);
  }
  for (const Record& record : newest.records) {
    const auto verdict = verdicts.find(key_of(record.info));
    rows.push_back({&record, verdict == verdicts.end() ? nullptr : verdict->second});
    if (verdict != verdicts.end()) verdicts.erase(verdict);
  }
  if (!comparison) return rows;
  for (const RowVerdict& verdict : comparison->rows) {
    if (verdicts.contains(key_of(verdict.info))) rows.push_back({nullptr, &verdict});
  }
  return rows;
}

/// The wall time of all rows, as a journal does not record when its run ended.
double seconds_of(const RunReport& report) {
  double ms = 0;
  for (const Record& record : report.records) ms += record.total_ms;
  return ms / 1e3;
}

Json json_of_run(const HistoryRun& run) {
  return {{"id", json_text(run.run_id)},
          {"date", json_text(run.date)},
          {"device", json_text(run.device)},
          {"driver", json_text(run.driver)},
          {"commit", json_text(run.commit)}};
}

/// Everything that the journal says about the run, like run.json, with text that may be shown.
Json shown(Json json) {
  if (json.is_string()) return json_text(json.get<std::string>());
  if (!json.is_structured()) return json;
  Json result = json.is_array() ? Json::array() : Json::object();
  for (auto& item : json.items()) {
    if (json.is_array()) {
      result.push_back(shown(item.value()));
    } else {
      result[json_text(item.key()).get<std::string>()] = shown(item.value());
    }
  }
  return result;
}

Json changes_between(const RunInfo& base, const RunInfo& next) {
  Json changes = Json::array();
  for (const EnvironmentChange& change : environment_changes(base, next))
    changes.push_back({change.what, json_text(change.base), json_text(change.next)});
  return changes;
}

/// What is known about a shift of the machine; null: no sign of one.
Json shift_between(const RunComparison& comparison) {
  const std::string text = comparison.machines.empty() ? "" : shift_text(comparison.machines.front());
  return text.empty() ? Json() : json_text(text);
}

Json json_of_base(const RunReport& base, const RunInfo& next, const RunComparison& comparison) {
  return {{"id", json_text(base.run.run_id)},   {"date", json_text(base.run.started_utc)},
          {"complete", base.complete},          {"other_device", comparison.cross_device},
          {"shift", shift_between(comparison)}, {"changes", changes_between(base.run, next)}};
}

/// The failures of a track, grouped; a failure is new if its row did not fail in the base.
Json json_of_failures(const std::vector<PageRow>& rows, const RecordsByKey* before) {
  std::vector<RowOutcome> outcomes;
  for (const PageRow& row : rows) {
    if (!row.record) continue;
    RowOutcome& outcome = outcomes.emplace_back(outcome_of(*row.record));
    if (!before || !outcome.failure) continue;
    const Record* earlier = found(*before, key_of(row.info()));
    outcome.is_new = !earlier || !has_failed(earlier->status);
  }
  Json json = Json::array();
  for (const FailureGroup& group : failure_groups(outcomes)) {
    json.push_back({{"name", json_text(group.name)},
                    {"text", json_text(group_text(group))},
                    {"story", json_text(group.story)},
                    {"example", json_text(outcomes[group.example_row].info->id)},
                    {"rows", group.rows.size()},
                    {"new", group.is_new}});
  }
  return json;
}

/// The class of each status, so that the script need not know it.
Json status_classes() {
  Json classes = Json::object();
  constexpr std::array names{"fine", "failing", "infrastructure"};
  for (int i = 0; i <= static_cast<int>(Status::Interrupted); ++i) {
    const auto status = static_cast<Status>(i);
    classes[std::string(name_of(status))] = names.at(static_cast<std::size_t>(class_of(status)));
  }
  return classes;
}

}  // namespace

std::vector<EnvironmentChange> environment_changes(const RunInfo& base, const RunInfo& next) {
  std::vector<EnvironmentChange> changes;
  const auto add = [&](std::string_view what, const std::string& before, const std::string& now) {
    if (before != now) changes.push_back({std::string(what), before, now});
  };
  for (const Circumstance& circumstance : circumstances())
    add(circumstance.what, circumstance.value(base), circumstance.value(next));
  for (const auto& [name, what] : input_names) add(what, input(base, name), input(next, name));
  for (const CeilingChange& change : ceiling_changes(base.ceilings, next.ceilings, scatter))
    changes.push_back({change.what, change.before, change.now});
  return changes;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string packed(std::string_view text) {
  return base64(deflated(text));
}

class PageData::Impl {
 public:
  Impl(const NightSummaries& nights, RunNoise noise) : nights_(nights), noise_(std::move(noise)) {}

  void opens_with(NightText night) { night_ = std::move(night); }

  void add(const Track& track, const RunReport& newest, const RunReport* base) {
    begin_device(newest.run);
    std::optional<RunComparison> comparison;
    if (base) comparison = compare_runs({*base}, {newest}, {.allow_tuning = true}, noise_);
    const std::vector<PageRow> rows = rows_of(newest, comparison ? &*comparison : nullptr);
    const RecordsByKey before = records_of(base);
    add_track(track, newest, base, comparison ? &*comparison : nullptr);
    devices_.back()["tracks"].back()["failures"] = json_of_failures(rows, base ? &before : nullptr);
    std::vector<RowKey> keys;
    const std::size_t first_row = track_column_.size();
    for (const PageRow& row : rows) {
      keys.push_back(key_of(row.info()));
      add_row(newest.run, row, found(before, keys.back()));
    }
    history_.add(nights_, track, keys);
    add_periods(track, keys, first_row);
    ++tracks_;
  }

  std::vector<PagePart> parts() {
    end_device();
    Json runs = Json::array();
    for (const NightSummary& night : nights_.all) runs.push_back(json_of_run(night.run));
    Json rows = figures_.json();
    rows["device"] = std::move(device_column_);
    rows["track"] = std::move(track_column_);
    rows["case"] = std::move(case_column_);
    Json core = {{"runs", std::move(runs)},        {"statuses", status_classes()},
                 {"fact_columns", fact_columns()}, {"devices", std::move(devices_)},
                 {"cases", cases_.json()},         {"rows", std::move(rows)}};
    if (night_) core["night"] = {{"name", json_text(night_->name)}, {"text", json_text(night_->text)}};
    parts_.insert(parts_.begin(), {"core", packed(json_dump(core))});
    return std::move(parts_);
  }

 private:
  void begin_device(const RunInfo& run) {
    const std::string key = device_key(run);
    if (key == device_key_) return;
    end_device();
    device_key_ = key;
    tracks_ = 0;
    devices_.push_back({{"name", json_text(run.device.name)},
                        {"short_name", unique_name(short_device_name(run.device.name))},
                        {"tracks", Json::array()}});
  }

  std::string unique_name(const std::string& name) {
    const int number = ++names_[name];
    return number == 1 ? name : name + " #" + std::to_string(number);
  }

  void add_track(const Track& track, const RunReport& newest, const RunReport* base,
                 const RunComparison* comparison) {
    Json json = {{"run", shown(json_of(newest.run))},
                 {"kind", json_text(kind_text(kind_of_run(newest.run)))},
                 {"complete", newest.complete},
                 {"seconds", json_number(seconds_of(newest))},
                 {"nights", track.nights}};
    if (Json models = json_of_models(newest); !models.empty()) json["models"] = std::move(models);
    if (base) json["base"] = json_of_base(*base, newest.run, *comparison);
    devices_.back()["tracks"].push_back(std::move(json));
  }

  /// Adds what changed over several days. `keys` are those of the track's rows, from `first_row` on.
  void add_periods(const Track& track, const std::vector<RowKey>& keys, std::size_t first_row) {
    std::map<std::uint32_t, std::size_t> places;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (const auto found = nights_.numbers.find(keys[i])) places.emplace(*found, first_row + i);
    }
    Json periods = Json::array();
    const TrackTrends trends = trends_of(nights_, track);
    for (const int days : {7, 30}) {
      const TrackChanges found = changes_of(nights_, track, trends, {.days = days});
      if (found.rows_with_levels == 0) continue;
      Json left_out = Json::array();
      for (const std::string& sentence : left_out_of_trend(nights_, found))
        left_out.push_back(json_text(sentence));
      Json changes = Json::array();
      for (const RowChange& change : found.changes) {
        const auto place = places.find(change.row);
        if (place == places.end()) continue;
        changes.push_back({place->second, json_number(change.before_us), json_number(change.after_us),
                           track.nights[change.place], track.nights[change.previous]});
      }
      periods.push_back({{"days", days},
                         {"judged", found.rows_with_levels},
                         {"visible_pct", json_number(100 * found.visible, 3)},
                         {"left_out", left_out},
                         {"changes", std::move(changes)}});
    }
    if (!periods.empty()) devices_.back()["tracks"].back()["periods"] = std::move(periods);
  }

  void add_row(const RunInfo& run, const PageRow& row, const Record* before) {
    device_column_.push_back(devices_.size() - 1);
    track_column_.push_back(tracks_);
    case_column_.push_back(cases_.number_of(row.info()));
    figures_.add(row);
    facts_.push_back(facts_of(run, row));
    Json samples = {samples_of(row.record), samples_of(before)};
    samples_.push_back(samples[0].is_null() && samples[1].is_null() ? Json() : std::move(samples));
  }

  void end_device() {
    if (devices_.empty()) return;
    const std::string number = std::to_string(devices_.size() - 1);
    parts_.push_back({"facts-" + number, packed(json_dump(std::exchange(facts_, Json::array())))});
    parts_.push_back({"samples-" + number, packed(json_dump(std::exchange(samples_, Json::array())))});
    parts_.push_back({"history-" + number, packed(json_dump(history_.take()))});
  }

  const NightSummaries& nights_;
  RunNoise noise_;
  std::optional<NightText> night_;
  std::vector<PagePart> parts_;
  Json devices_ = Json::array();
  CaseTable cases_;
  RowFigures figures_;
  Json device_column_ = Json::array(), track_column_ = Json::array(), case_column_ = Json::array();
  std::map<std::string, int> names_;
  // State of the current device:
  std::string device_key_;
  std::size_t tracks_ = 0;
  Json facts_ = Json::array(), samples_ = Json::array();
  RowHistory history_;
};

PageData::PageData(const NightSummaries& nights, RunNoise noise)
    : impl_(std::make_unique<Impl>(nights, std::move(noise))) {}
PageData::~PageData() = default;

void PageData::add(const Track& track, const RunReport& newest, const RunReport* base) {
  impl_->add(track, newest, base);
}

void PageData::opens_with(NightText night) {
  impl_->opens_with(std::move(night));
}

std::vector<PagePart> PageData::parts() && {
  return impl_->parts();
}

std::string page_html(std::span<const PagePart> parts) {
  std::string html(page_head());
  for (const PagePart& part : parts) {
    html.append(R"(<script type="application/octet-stream" class="data" id=")").append(part.name);
    html.append("\">");
    html.append(part.packed).append("</script>\n");
  }
  return html.append(page_tail());
}

}  // namespace assay
