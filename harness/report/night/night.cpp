#include "harness/report/night/night.h"

#include "harness/base/clock.h"
#include "harness/base/names.h"
#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/compare/compare_files.h"
#include "harness/report/compare/compare_text.h"
#include "harness/report/record/record.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace assay {
namespace {

FailedRow failed_row(const Record& record) {
  std::string reason = record.reason;
  if (reason.empty() && record.accuracy) reason = describe(*record.accuracy);
  return {record.info, record.status, std::move(reason), record.repro};
}

/// Whether both sides are right, but their bits differ.
bool is_changed(const RowVerdict& row) {
  return row.base && row.next && row.base->status == Status::Pass && row.next->status == Status::Pass &&
         row.base->input_hash == row.next->input_hash && !row.base->output_hash.empty() &&
         !row.next->output_hash.empty() && row.base->output_hash != row.next->output_hash;
}

bool is_worse(const RowVerdict* row) {
  return row->verdict == Verdict::Broken || row->verdict == Verdict::Slower || row->verdict == Verdict::Gone;
}

}  // namespace

bool ComparisonDigest::has_untrusted_base() const {
  return 2 * trusted_before < timed_before;
}

std::size_t RunDigest::count(StatusClass wanted) const {
  std::size_t sum = 0;
  for (const auto& [status, count] : statuses) sum += class_of(status) == wanted ? count : 0;
  return sum;
}

namespace {

/// The rows of a report; those that fail are new if they did not in `before`.
std::vector<RowOutcome> outcomes_of(const RunReport& report, const RunReport* before) {
  std::set<RowKey> failed_before;
  if (before) {
    for (const Record& record : before->records) {
      if (has_failed(record.status)) failed_before.insert(key_of(record.info));
    }
  }
  std::vector<RowOutcome> rows;
  for (const Record& record : report.records) {
    RowOutcome& row = rows.emplace_back(outcome_of(record));
    row.is_new = before && row.failure && !failed_before.contains(key_of(record.info));
  }
  return rows;
}

void count_times(ComparisonDigest& digest, const RowVerdict& row) {
  if (row.info.mode != "perf" || !row.base || !row.base->has_time()) return;
  ++digest.timed_before;
  if (!row.base->suspect.empty()) return;
  ++digest.trusted_before;
  // Not what was timed by another clock than before: the next night would be so, too.
  const bool is_suspect = row.next && (!row.next->suspect.empty() || row.next->status == Status::Suspect);
  digest.suspect_now += is_suspect ? 1 : 0;
}

}  // namespace

RunDigest digest_of(const RunReport& report, const RunReport* before) {
  RunDigest digest{.run = report.run,
                   .complete = report.complete,
                   .cut_off = report.cut_off,
                   .rows = report.records.size()};
  std::vector<const Record*> bad;
  for (const Record& record : report.records) {
    ++digest.statuses[record.status];
    digest.rows_s += record.total_ms / ms_per_s;
    if (class_of(record.status) != StatusClass::Fine) bad.push_back(&record);
  }
  // Rows that never ran say less than failures, so they come last.
  std::stable_partition(bad.begin(), bad.end(),
                        [](const Record* record) { return record->status != Status::Missing; });
  for (std::size_t i = 0; i < std::min(bad.size(), most_listed_rows); ++i)
    digest.failures.push_back(failed_row(*bad[i]));
  digest.failures_left_out = bad.size() - digest.failures.size();
  digest.groups = failure_groups(outcomes_of(report, before));
  for (const FailureGroup& group : digest.groups)
    digest.examples.push_back(failed_row(report.records[group.example_row]));
  if (!digest.groups.empty()) digest.example = failure_text(report.records[digest.groups[0].example_row]);
  return digest;
}

ComparisonDigest digest_of(const RunComparison& comparison) {
  ComparisonDigest digest{
      .base = comparison.base.empty() ? RunInfo{} : comparison.base.front().run,
      .cross_device = comparison.cross_device,
      .machine = comparison.machines.empty() ? std::nullopt : std::optional(comparison.machines.front()),
      .totals = comparison.totals(),
      .without_verdict = comparison.without_verdict()};
  for (const RowVerdict& row : comparison.rows) {
    count_times(digest, row);
    if (is_changed(row)) ++(row.next->is_exact ? digest.changed_exact : digest.changed_bounded);
  }
  std::vector<const RowVerdict*> shown = shown_rows(comparison, {.new_and_gone = true});
  // Rows that can make a night fail come first, as lists are cut.
  std::stable_partition(shown.begin(), shown.end(), is_worse);
  for (const RowVerdict* row : shown) {
    if (!row->verdict) continue;
    digest.rows.size() < most_listed_rows ? digest.rows.push_back(*row) : void(++digest.rows_left_out);
  }
  return digest;
}

namespace {

constexpr Names<night_verdict_count> verdict_names{"GOOD", "NOTHING_JUDGED", "REGRESSIONS", "FAILURES",
                                                   "INFRASTRUCTURE"};

/// How far the machine shifted, by what, and what to do.
std::string shift_sentence(const DeviceNight& device) {
  const MachineShift& shift = *device.shift();
  const bool is_measured = shift.evidence == ShiftEvidence::Measured;
  const std::string text = shift_text(shift) + ", since the last good night; " +
                           (is_measured ? "rows of other programs are judged against that"
                                        : "rows of other programs are AMBIGUOUS");
  if (device.is_accepted) return text + "; it was accepted";
  if (is_measured && !shift.is_finding()) return text;
  return text +
         "; look for other load, clocks or power limits and run again, or accept the machine as it is with "
         "--accept " +
         device.slug;
}

/// How many times could not be compared, why, and what to do.
std::string lost_times_sentence(const DeviceNight& device) {
  const ComparisonDigest& comparison = device.last_good->comparison;
  const bool validated = device.run->run.validation;
  const std::string text =
      fmt::format("{} of {} timed rows could not be compared ({})",
                  validated ? comparison.trusted_before : comparison.suspect_now, comparison.trusted_before,
                  validated ? "validation layer on" : "their times are SUSPECT");
  if (device.is_accepted) return text + "; it was accepted";
  return text + "; the last good night stays, so that the next one shows what became slower (--accept " +
         device.slug + " replaces it all the same)";
}

NightVerdict verdict_of(const RunDigest& run) {
  if (!run.complete || run.count(StatusClass::Infrastructure) > 0) return NightVerdict::Infrastructure;
  if (run.count(StatusClass::Failing) > 0) return NightVerdict::Failures;
  const bool judged = run.statuses.contains(Status::Pass) || run.statuses.contains(Status::ExpectedFail);
  return judged ? NightVerdict::Good : NightVerdict::NothingJudged;
}

}  // namespace

std::string_view name_of(NightVerdict verdict) {
  return name_in(verdict_names, verdict);
}

ExitCode exit_code(NightVerdict verdict) {
  switch (verdict) {
    case NightVerdict::Good:
      return ExitCode::Fine;
    case NightVerdict::NothingJudged:
      return ExitCode::Usage;
    case NightVerdict::Regressions:
    case NightVerdict::Failures:
      return ExitCode::Failures;
    case NightVerdict::Infrastructure:
      break;
  }
  return ExitCode::Infrastructure;
}

std::size_t DeviceNight::regressions() const {
  if (!last_good) return 0;
  std::size_t sum = 0;
  for (const auto& [verdict, count] : last_good->comparison.totals)
    sum += failing.contains(verdict) ? count : 0;
  return sum - std::min(sum, accepted);
}

bool DeviceNight::is_accepted_row(const RowInfo& row) const {
  return accepted_rows.contains(row.id) || carried_over.contains(key_of(row));
}

const MachineShift* DeviceNight::shift() const {
  if (!last_good || !last_good->comparison.machine) return nullptr;
  const MachineShift& machine = *last_good->comparison.machine;
  return machine.evidence == ShiftEvidence::None ? nullptr : &machine;
}

bool DeviceNight::has_shifted() const {
  return shift() && shift()->is_finding() && !is_accepted;
}

bool DeviceNight::has_lost_times() const {
  if (!run || !last_good) return false;
  const ComparisonDigest& comparison = last_good->comparison;
  if (comparison.trusted_before == 0) return false;
  if (run->run.validation) return true;  // none of its times can be trusted
  return !comparison.has_untrusted_base() && 2 * comparison.suspect_now > comparison.trusted_before;
}

std::vector<std::string> DeviceNight::all_problems() const {
  std::vector<std::string> all = problems;
  if (has_shifted()) all.push_back(shift_sentence(*this));
  return all;
}

std::vector<std::string> DeviceNight::all_warnings() const {
  std::vector<std::string> all = warnings;
  if (shift() && !has_shifted()) all.push_back(shift_sentence(*this));
  if (has_lost_times()) all.push_back(lost_times_sentence(*this));
  if (run && !run->run.validation && last_good && last_good->comparison.base.validation &&
      last_good->comparison.has_untrusted_base()) {
    all.emplace_back(
        "the last good night was timed with the validation layer on: no time could be compared with it, so "
        "a slower row does not show");
  }
  return all;
}

std::vector<std::string> strict_notes(const DeviceNight& device) {
  std::vector<std::string> notes;
  if (!device.run || !device.has_strict_notes) return notes;
  for (const RuleNote& note : device.run->run.rule_notes) {
    notes.push_back(fmt::format("{}:{}: {} '{}': {}", note.where.file, note.where.line, note.state,
                                note.match, note.note));
  }
  return notes;
}

NightVerdict DeviceNight::verdict() const {
  if (!problems.empty() || !run || has_shifted()) return NightVerdict::Infrastructure;
  const NightVerdict own =
      has_strict_notes ? std::max(verdict_of(*run), NightVerdict::Failures) : verdict_of(*run);
  const bool is_worse = regressions() > 0 && !is_accepted;
  return is_worse ? std::max(own, NightVerdict::Regressions) : own;
}

NightVerdict Night::verdict() const {
  NightVerdict worst =
      problems.empty() && !devices.empty() ? NightVerdict::Good : NightVerdict::Infrastructure;
  for (const DeviceNight& device : devices) worst = std::max(worst, device.verdict());
  return worst;
}

std::size_t Night::good() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      devices, [](const DeviceNight& device) { return device.verdict() == NightVerdict::Good; }));
}

namespace {

using Json = nlohmann::ordered_json;

Json texts(const std::vector<std::string>& list) {
  Json json = Json::array();
  for (const std::string& text : list) json.push_back(valid_utf8(text));
  return json;
}

void add_row(Json& json, const RowInfo& info) {
  json["case"] = valid_utf8(info.id);
  json["mode"] = valid_utf8(info.mode);
  json["cache"] = key_of(info).cache;
}

Json failure_json(const FailedRow& row) {
  Json json;
  add_row(json, row.info);
  json.update(Json{{"status", name_of(row.status)},
                   {"reason", valid_utf8(row.reason)},
                   {"file", valid_utf8(row.info.where.file)},
                   {"line", row.info.where.line},
                   {"repro", valid_utf8(row.repro)}});
  return json;
}

Json group_json(const FailureGroup& group) {
  return {{"name", valid_utf8(group.name)},
          {"status", name_of(group.status)},
          {"kind", valid_utf8(group.kind)},
          {"rows", group.rows.size()},
          {"new", group.is_new},
          {"text", valid_utf8(group_text(group))},
          {"example", valid_utf8(group.example)},
          {"story", valid_utf8(group.story)}};
}

Json compared_json(const RowVerdict& row) {
  Json json;
  add_row(json, row.info);
  json["verdict"] = name_of(*row.verdict);
  json["reason"] = valid_utf8(row.reason);
  if (row.base && row.base->has_time()) json["base_us"] = row.base->time_us;
  if (row.next && row.next->has_time()) json["new_us"] = row.next->time_us;
  if (row.ratio > 0) json["ratio"] = row.ratio;
  add_net_ratio(json, row);
  if (row.base) json["base_status"] = name_of(row.base->status);
  if (row.next) json["new_status"] = name_of(row.next->status);
  return json;
}

Json totals_json(const ComparisonDigest& comparison) {
  Json totals = Json::object();
  for (const auto& [verdict, count] : comparison.totals) totals[std::string(name_of(verdict))] = count;
  return totals;
}

Json last_good_json(const LastGood& last_good) {
  const RunInfo& run = last_good.comparison.base;
  return {{"report", valid_utf8(last_good.report)},      {"run_id", valid_utf8(run.run_id)},
          {"started_utc", valid_utf8(run.started_utc)},  {"device", valid_utf8(run.device.name)},
          {"driver", valid_utf8(driver_of(run.device))}, {"version", valid_utf8(run.version)}};
}

Json comparison_json(const DeviceNight& device) {
  const ComparisonDigest& comparison = device.last_good->comparison;
  Json json = {
      {"cross_device", comparison.cross_device},
      {"machine", comparison.machine ? machine_json(*comparison.machine) : Json()},
      {"totals", totals_json(comparison)},
      {"without_verdict", comparison.without_verdict},
      {"regressions", device.regressions()},
      {"changed_answers", {{"exact", comparison.changed_exact}, {"bounded", comparison.changed_bounded}}}};
  Json& rows = json["rows"] = Json::array();
  for (const RowVerdict& row : comparison.rows) rows.push_back(compared_json(row));
  json["rows_left_out"] = comparison.rows_left_out;
  return json;
}

Json accepted_json(const DeviceNight& device) {
  Json changes = Json::array();
  for (const auto& [key, change] : device.accepted_changes) {
    Json& json = changes.emplace_back();
    json["case"] = valid_utf8(key.id);
    json["mode"] = valid_utf8(key.mode);
    json["cache"] = key.cache;
    json["verdict"] = name_of(change.verdict);
    if (change.ratio > 0) json["ratio"] = change.ratio;
    json["night"] = valid_utf8(change.night);
  }
  return changes;
}

Json rule_json(const RuleNote& note) {
  return {{"state", valid_utf8(note.state)},   {"file", valid_utf8(note.where.file)},
          {"line", note.where.line},           {"match", valid_utf8(note.match)},
          {"reason", valid_utf8(note.reason)}, {"note", valid_utf8(note.note)}};
}

void add_run(Json& json, const RunDigest& digest) {
  const RunInfo& run = digest.run;
  json.update(Json{{"device", valid_utf8(run.device.name)},
                   {"uuid", valid_utf8(run.device.uuid)},
                   {"driver", valid_utf8(driver_of(run.device))},
                   {"host", valid_utf8(run.host)},
                   {"version", valid_utf8(run.version)},
                   {"run_id", valid_utf8(run.run_id)},
                   {"started_utc", valid_utf8(run.started_utc)},
                   {"complete", digest.complete},
                   {"rows", digest.rows}});
  Json& statuses = json["statuses"] = Json::object();
  for (const auto& [status, count] : digest.statuses) statuses[std::string(name_of(status))] = count;
  Json& failures = json["failures"] = Json::array();
  for (const FailedRow& row : digest.failures) failures.push_back(failure_json(row));
  Json& groups = json["failure_groups"] = Json::array();
  for (const FailureGroup& group : digest.groups) groups.push_back(group_json(group));
  json["failures_left_out"] = digest.failures_left_out;
  Json& rules = json["rules_to_review"] = Json::array();
  for (const RuleNote& note : run.rule_notes) rules.push_back(rule_json(note));
  json["rows_s"] = digest.rows_s;
}

Json device_json(const DeviceNight& device) {
  Json json = {{"slug", valid_utf8(device.slug)},          {"verdict", name_of(device.verdict())},
               {"problems", texts(device.all_problems())}, {"warnings", texts(device.all_warnings())},
               {"note", valid_utf8(device.note)},          {"report", valid_utf8(device.report)}};
  if (device.run) {
    add_run(json, *device.run);
    json["strict_failure"] = device.has_strict_notes;
    json["duration_s"] = device.duration_s;
  }
  json["bytes"] = device.bytes;
  json["last_good"] = device.last_good ? last_good_json(*device.last_good) : Json();
  json["comparison"] = device.last_good ? comparison_json(device) : Json();
  json["accepted"] = device.is_accepted;
  Json& rows = json["accepted_rows"] = Json::array();
  for (const std::string& id : device.accepted_rows) rows.push_back(valid_utf8(id));
  json["accepted_changes"] = accepted_json(device);
  json["becomes_last_good"] = device.becomes_last_good;
  return json;
}

}  // namespace

std::string night_json(const Night& night) {
  Json json = {{"schema", nightly_schema},
               {"assay", valid_utf8(night.version)},
               {"when", night.when},
               {"night", valid_utf8(night.name)},
               {"verdict", name_of(night.verdict())},
               {"exit_code", static_cast<int>(exit_code(night.verdict()))},
               {"problems", texts(night.problems)}};
  Json& devices = json["devices"] = Json::array();
  for (const DeviceNight& device : night.devices) devices.push_back(device_json(device));
  json["bytes"] = night.bytes;
  json["free_bytes"] = night.free_bytes ? Json(*night.free_bytes) : Json();
  return json.dump(2) + "\n";
}

bool is_night_json(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  return json.is_object() && json.contains("schema") && json.contains("devices");
}

namespace {

std::map<RowKey, AcceptedChange> accepted_changes_in(const Json& device) {
  std::map<RowKey, AcceptedChange> changes;
  if (!device.contains("accepted_changes")) return changes;  // of an older assay
  for (const Json& json : device.at("accepted_changes")) {
    const auto verdict = parse_verdict(json.at("verdict").get<std::string>());
    if (!verdict) continue;  // of a newer assay
    const RowKey key{.id = json.at("case").get<std::string>(),
                     .mode = json.at("mode").get<std::string>(),
                     .cache = json.at("cache").get<std::string>()};
    changes[key] = {*verdict, json.value("ratio", 0.0), json.at("night").get<std::string>()};
  }
  return changes;
}

}  // namespace

std::map<std::string, EarlierVerdict> earlier_verdicts(const std::string& nightly_json) try {
  const Json json = Json::parse(nightly_json);
  std::map<std::string, EarlierVerdict> verdicts;
  if (json.at("schema") != nightly_schema) return verdicts;
  for (const Json& device : json.at("devices")) {
    EarlierVerdict& verdict = verdicts[device.at("slug").get<std::string>()];
    verdict.report = device.value("report", "");
    verdict.started_utc = device.value("started_utc", "");
    verdict.is_accepted = device.at("accepted").get<bool>();
    if (device.contains("accepted_rows"))
      verdict.accepted_rows = device.at("accepted_rows").get<std::set<std::string>>();
    verdict.accepted_changes = accepted_changes_in(device);
    verdict.became_last_good = device.value("becomes_last_good", false);
    if (device.at("last_good").is_null()) continue;
    verdict.last_good = device.at("last_good").at("report").get<std::string>();
    verdict.last_good_run = device.at("last_good").value("run_id", "");
  }
  return verdicts;
} catch (const Json::exception&) {
  return {};
}

}  // namespace assay
