#include "harness/report/compare/compare_files.h"

#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/compare/compare.h"
#include "harness/report/compare/compare_text.h"
#include "harness/report/record/record.h"
#include "harness/report/writers/csv.h"
#include "harness/report/writers/markdown.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>

namespace assay {
namespace {

using Json = nlohmann::ordered_json;
using Columns = std::vector<CompareColumn>;

std::string number(double value, int digits) {
  return value > 0 ? fixed(value, digits) : "";
}

// Adds a column for each side.
template <class Get>
void add_both(Columns& columns, const std::string& name, const std::string& unit, const std::string& meaning,
              Get get) {
  columns.push_back({"base_" + name, unit, meaning + ", on the base side",
                     [get](const RowVerdict& row) { return row.base ? get(*row.base) : std::string(); }});
  columns.push_back({"new_" + name, unit, meaning + ", on the new side",
                     [get](const RowVerdict& row) { return row.next ? get(*row.next) : std::string(); }});
}

CompareColumn text(const std::string& name, const std::string& meaning, std::string RowInfo::*member) {
  return {name, "text", meaning, [member](const RowVerdict& row) { return row.info.*member; }};
}

std::string ratio_text(double ratio) {
  return ratio > 0 ? significant(ratio, 6) : "";
}

std::string verdict_text(const RowVerdict& row) {
  return row.verdict ? std::string(name_of(*row.verdict)) : "";
}

void add_sides(Columns& columns) {
  using Side = const RowSide&;
  add_both(columns, "status", "text", "worst status of the row's runs",
           [](Side side) { return std::string(name_of(side.status)); });
  add_both(columns, "us", "us", "median of the samples of all runs; for one run, time_us_p50 of perf.csv",
           [](Side side) { return number(side.time_us, 4); });
  add_both(columns, "ci_pct", "%", "half width of the median's interval over the blocks",
           [](Side side) { return side.has_time() ? fixed(side.ci_pct, 2) : std::string(); });
  add_both(columns, "spread_pct", "%", "largest minus smallest block median, in percent of the time",
           [](Side side) { return side.has_time() ? fixed(side.spread_pct, 2) : std::string(); });
  add_both(columns, "blocks", "number", "blocks of samples",
           [](Side side) { return side.has_time() ? std::to_string(side.block_us.size()) : std::string(); });
  add_both(columns, "runs", "number", "runs that have the row",
           [](Side side) { return std::to_string(side.runs.size()); });
  add_both(columns, "clock_ratio", "ratio",
           "share of the full clock at which the device ran, by the clock probe",
           [](Side side) { return number(side.clock_ratio, 3); });
  add_both(columns, "pct_peak", "%", "share of the nearer ceiling",
           [](Side side) { return number(side.pct_peak, 2); });
  add_both(columns, "energy_j", "J",
           "energy of one program run, median of the runs that measured it (--energy)",
           [](Side side) { return side.energy_j > 0 ? significant(side.energy_j, 6) : ""; });
  add_both(columns, "err_over_bound", "ratio", "largest share of an accuracy bound that was spent",
           [](Side side) { return significant(side.err_over_bound, 6); });
}

Json side_json(const RowSide& side) {
  Json json = {{"runs", side.runs},
               {"status", std::string(name_of(side.status))},
               {"reason", valid_utf8(side.reason)}};
  if (side.has_time()) {
    json.update(Json{{"time_us", side.time_us},
                     {"ci_pct", side.ci_pct},
                     {"spread_pct", side.spread_pct},
                     {"timer_pct", side.timer_pct},
                     {"samples", side.samples},
                     {"block_us", side.block_us},
                     {"programs", side.programs}});
    if (side.clock_ratio > 0) json["clock_ratio"] = side.clock_ratio;
    if (side.energy_j > 0) json["energy_j"] = side.energy_j;
    if (side.pct_peak > 0) json["pct_peak"] = side.pct_peak;
  }
  return json;
}

Json row_json(const RowVerdict& row) {
  Json json = {{"verdict", row.verdict ? Json(name_of(*row.verdict)) : Json()},
               {"case", valid_utf8(row.info.id)},
               {"mode", valid_utf8(row.info.mode)},
               {"cache", key_of(row.info).cache},
               {"op", valid_utf8(row.info.op)},
               {"impl", valid_utf8(row.info.impl)},
               {"device", valid_utf8(row.device)},
               {"reason", valid_utf8(row.reason)}};
  if (row.ratio > 0) json["ratio"] = row.ratio;
  if (row.ratio > 0) json["significant"] = row.is_significant;
  add_net_ratio(json, row);
  if (row.peak_ratio > 0) json["peak_ratio"] = row.peak_ratio;
  if (row.needed_pct > 0)
    json.update(Json{{"effect_pct", row.effect_pct}, {"needed_pct", row.needed_pct}, {"chance", row.chance}});
  if (row.base) json["base"] = side_json(*row.base);
  if (row.next) json["new"] = side_json(*row.next);
  Json& conditions = json["conditions"] = Json::array();
  for (const Condition& condition : row.conditions)
    conditions.push_back({{"name", condition.name}, {"finding", valid_utf8(condition.finding)}});
  return json;
}

Json runs_json(const std::vector<RunReport>& runs) {
  Json list = Json::array();
  for (const RunReport& report : runs) {
    const RunInfo& run = report.run;
    list.push_back({{"run_id", valid_utf8(run.run_id)},
                    {"device", valid_utf8(run.device.name)},
                    {"uuid", valid_utf8(run.device.uuid)},
                    {"driver", valid_utf8(driver_of(run.device))},
                    {"version", valid_utf8(run.version)},
                    {"started_utc", valid_utf8(run.started_utc)},
                    {"complete", report.complete}});
  }
  return list;
}

Json means_json(const RunComparison& comparison) {
  Json list = Json::array();
  for (const GeometricMean& mean : comparison.means) {
    Json& json = list.emplace_back(Json{{"op", valid_utf8(mean.op)},
                                        {"impl", valid_utf8(mean.impl)},
                                        {"cache", mean.cache},
                                        {"ratio", mean.ratio},
                                        {"rows", mean.rows},
                                        {"significant", mean.significant}});
    if (mean.peak_rows > 0) json.update(Json{{"peak_ratio", mean.peak_ratio}, {"peak_rows", mean.peak_rows}});
  }
  return list;
}

std::string markdown_runs(const RunComparison& comparison) {
  std::vector<std::vector<std::string>> rows = {{"side", "device", "driver", "assay", "started", "run"}};
  const auto add = [&](const char* side, const std::vector<RunReport>& runs) {
    for (const RunReport& report : runs) {
      rows.push_back({side, markdown_cell(report.run.device.name),
                      markdown_cell(driver_of(report.run.device)), markdown_cell(report.run.version),
                      markdown_cell(report.run.started_utc),
                      report.complete ? "complete" : "did not finish"});
    }
  };
  add("base", comparison.base);
  add("new", comparison.next);
  return markdown_aligned(rows, std::vector<bool>(rows[0].size(), false));
}

std::string markdown_rows(const RunComparison& comparison, const CompareView& view) {
  const std::vector<const RowVerdict*> shown = listed_rows(comparison, view);
  if (shown.empty()) return "";
  constexpr std::ptrdiff_t net_column = 5;
  std::vector<std::vector<std::string>> rows = {{"verdict", "row", "base, us", "new, us", "new/base",
                                                 "without shift", "needed", "% ceiling", "new % ceiling",
                                                 "why"}};
  const auto us = [](const std::optional<RowSide>& side) { return side ? number(side->time_us, 2) : ""; };
  const auto peak = [](const std::optional<RowSide>& side) { return side ? number(side->pct_peak, 1) : ""; };
  for (const RowVerdict* row : shown) {
    rows.push_back({row->verdict ? std::string(name_of(*row->verdict)) : "-",
                    markdown_code(row->info.id) + " (" + markdown_cell(mode_words(row->info)) + ")",
                    us(row->base), us(row->next), row->ratio > 0 ? readable(row->ratio, 4) : "",
                    net_text(*row), row->needed_pct > 0 ? fixed(row->needed_pct, 1) + " %" : "",
                    peak(row->base), peak(row->next), markdown_cell(row->reason)});
  }
  if (std::ranges::none_of(shown, [](const RowVerdict* row) { return row->net_ratio > 0; })) {
    for (std::vector<std::string>& row : rows) row.erase(row.begin() + net_column);
  }
  std::vector<bool> right(rows[0].size(), true);
  right[0] = right[1] = right.back() = false;
  return '\n' + markdown_aligned(rows, right);
}

std::string markdown_means(const RunComparison& comparison) {
  if (comparison.means.empty()) return "";
  std::vector<std::vector<std::string>> rows = {
      {"op", "impl", "new/base", "rows", "significant", "% ceiling, new/base"}};
  for (const GeometricMean& mean : comparison.means) {
    rows.push_back({markdown_cell(mean.op),
                    markdown_cell(mean.impl + (mean.cache.empty() ? "" : ", " + mean.cache)),
                    readable(mean.ratio, 4), std::to_string(mean.rows),
                    mean.significant == 0 ? "none" : std::to_string(mean.significant),
                    mean.peak_ratio > 0 ? readable(mean.peak_ratio, 4) : ""});
  }
  return '\n' + markdown_aligned(rows, {false, false, true, true, true, true});
}

}  // namespace

nlohmann::ordered_json machine_json(const MachineShift& shift) {
  nlohmann::ordered_json json = {{"device", valid_utf8(shift.device)},
                                 {"shift", std::string(name_of(shift.evidence))},
                                 {"unchanged_rows", shift.unchanged_rows},
                                 {"ratio", shift.ratio},
                                 {"low", shift.low},
                                 {"high", shift.high},
                                 {"finding", shift.is_finding()},
                                 {"ignored", shift.is_ignored},
                                 {"text", valid_utf8(shift_text(shift))}};
  nlohmann::ordered_json& moved = json["moved"] = nlohmann::ordered_json::array();
  for (const CeilingChange& change : shift.moved) {
    moved.push_back(
        {{"what", change.what}, {"before", change.before}, {"now", change.now}, {"percent", change.percent}});
  }
  return json;
}

nlohmann::ordered_json machines_json(const std::vector<MachineShift>& shifts) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const MachineShift& shift : shifts) list.push_back(machine_json(shift));
  return list;
}

void add_net_ratio(nlohmann::ordered_json& json, const RowVerdict& row) {
  if (!(row.net_ratio > 0)) return;
  json["machine_ratio"] = row.machine_ratio;
  json["net_ratio"] = row.net_ratio;
  json["net_low"] = row.net_low;
  json["net_high"] = row.net_high;
}

std::vector<CompareColumn> compare_columns() {
  Columns columns = {
      {"verdict", "text", "one of the verdicts; absent: no result on either side, or speed on two devices",
       verdict_text},
      text("case", "id of the case", &RowInfo::id),
      text("mode", "accu or perf", &RowInfo::mode),
      {"cache", "text", "cold, else absent", [](const RowVerdict& row) { return key_of(row.info).cache; }},
      text("op", "the op", &RowInfo::op),
      text("impl", "the impl that ran", &RowInfo::impl),
      text("shape", "shape of the op's first tensor, slowest dim first", &RowInfo::shape),
      {"device", "text", "name of the device; the new side's, if there are two",
       [](const RowVerdict& row) { return row.device; }},
      {"ratio", "ratio", "new_us / base_us", [](const RowVerdict& row) { return ratio_text(row.ratio); }},
      {"machine_ratio", "ratio", "the machine's shift, new / base, that was taken out; absent: none",
       [](const RowVerdict& row) { return ratio_text(row.machine_ratio); }},
      {"net_ratio", "ratio", "ratio / machine_ratio",
       [](const RowVerdict& row) { return ratio_text(row.net_ratio); }},
      {"net_low", "ratio", "lower end of the interval of net_ratio",
       [](const RowVerdict& row) { return ratio_text(row.net_low); }},
      {"net_high", "ratio", "upper end of the interval of net_ratio",
       [](const RowVerdict& row) { return ratio_text(row.net_high); }},
      {"effect_pct", "%", "how much longer the longer of the two times is, without the machine's shift",
       [](const RowVerdict& row) { return row.ratio > 0 ? fixed(row.effect_pct, 2) : ""; }},
      {"needed_pct", "%", "smallest effect that counts; absent if speed was not judged",
       [](const RowVerdict& row) { return number(row.needed_pct, 2); }},
      {"chance", "ratio", "probability that exchangeable blocks separate completely, 2 / C(b+n, b)",
       [](const RowVerdict& row) { return row.chance > 0 ? significant(row.chance, 6) : ""; }},
      {"peak_ratio", "ratio", "new_pct_peak / base_pct_peak",
       [](const RowVerdict& row) { return ratio_text(row.peak_ratio); }},
      {"significant", "flag",
       "true: the blocks of the sides separate completely, by more than the row needs; also for two devices",
       [](const RowVerdict& row) {
         return row.ratio > 0 ? std::string(row.is_significant ? "true" : "false") : std::string();
       }},
  };
  add_sides(columns);
  columns.push_back({"reason", "text", "reason of the verdict, with numbers",
                     [](const RowVerdict& row) { return row.reason; }});
  return columns;
}

std::string markdown_table(const std::vector<CompareColumn>& columns) {
  std::string table = "| column | unit | meaning |\n|---|---|---|\n";
  for (const CompareColumn& column : columns)
    table += "| `" + column.name + "` | " + column.unit + " | " + column.meaning + " |\n";
  return table;
}

std::string compare_csv(const RunComparison& comparison) {
  const Columns columns = compare_columns();
  std::vector<std::string> cells;
  for (const CompareColumn& column : columns) cells.push_back(column.name);
  std::string csv = csv_row(cells);
  for (const RowVerdict& row : comparison.rows) {
    cells.clear();
    for (const CompareColumn& column : columns) cells.push_back(column.value(row));
    csv += csv_row(cells);
  }
  return csv;
}

std::string compare_json(const RunComparison& comparison) {
  Json totals = Json::object();
  for (const auto& [verdict, count] : comparison.totals()) totals[std::string(name_of(verdict))] = count;
  Json json = {{"schema", report_schema},
               {"base", runs_json(comparison.base)},
               {"new", runs_json(comparison.next)},
               {"cross_device", comparison.cross_device},
               {"totals", totals},
               {"without_verdict", comparison.without_verdict()},
               {"judged", comparison.judged},
               {"expected_separations", comparison.expected_separations},
               {"machines", machines_json(comparison.machines)},
               {"geometric_means", means_json(comparison)}};
  Json& rows = json["rows"] = Json::array();
  for (const RowVerdict& row : comparison.rows) rows.push_back(row_json(row));
  return json.dump(2) + "\n";
}

/// Lines as items of a list.
std::string markdown_list(const std::string& lines) {
  std::string text;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) text += "- " + markdown_cell(line) + '\n';
  return text;
}

std::string compare_markdown(const RunComparison& comparison, const CompareView& view) {
  const std::string machines = markdown_list(machines_text(comparison));
  const std::string folded = markdown_list(new_and_gone_text(comparison));
  return machines + (machines.empty() ? "" : "\n") + markdown_runs(comparison) + '\n' +
         ceilings_text(comparison) + totals_line(comparison) +
         (view.all ? "" : broken_groups_markdown(comparison)) + markdown_rows(comparison, view) +
         (folded.empty() ? "" : "\n") + folded + markdown_means(comparison) +
         (comparison.judged > 0 ? "\n" + chance_text(comparison) : "");
}

}  // namespace assay
