#include "harness/report/devices/pivot.h"

#include "harness/report/record/device_name.h"
#include "harness/report/record/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace assay {

namespace {

using Key = std::vector<std::string>;

// Rows with equal keys measure the same thing.
Key row_key(const RowInfo& info, bool is_robust) {
  return {info.id,     info.impl,          info.shape,
          info.params, asked_forms(info),  info.tune,
          info.fill,   key_of(info).cache, is_robust ? "robust" : ""};
}

// The impls of one case have equal keys.
Key case_key(const RowInfo& info, bool is_robust) {
  return {info.op,           info.name, info.shape,         info.params,
          asked_forms(info), info.fill, key_of(info).cache, is_robust ? "robust" : ""};
}

std::vector<PivotRow> rows_of(std::span<const RunReport> reports) {
  std::vector<PivotRow> rows;
  std::map<Key, std::size_t> index;
  for (std::size_t device = 0; device < reports.size(); ++device) {
    const bool is_robust = reports[device].run.robust_access;
    for (const Record& record : reports[device].records) {
      if (record.info.mode != "perf") continue;
      const auto [at, is_new] = index.try_emplace(row_key(record.info, is_robust), rows.size());
      if (is_new)
        rows.push_back({.records = std::vector<const Record*>(reports.size()), .is_robust = is_robust});
      rows[at->second].records[device] = &record;
    }
  }
  return rows;
}

/// Cases of one id and cache with several tunables. If a case names several, they are in the ids.
std::size_t retuned_cases(const std::vector<PivotRow>& rows) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> tunes;
  for (const PivotRow& row : rows) {
    const RowInfo& info = row.any().info;
    tunes[{info.id, key_of(info).cache}].insert(info.tune);
  }
  return static_cast<std::size_t>(
      std::ranges::count_if(tunes, [](const auto& found) { return found.second.size() > 1; }));
}

void find_rivals(std::vector<PivotRow>& rows) {
  std::map<Key, std::size_t> first;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].first_impl = first.try_emplace(case_key(rows[i].any().info, rows[i].is_robust), i).first->second;
    if (rows[i].first_impl == i) continue;
    rows[i].has_rivals = true;
    rows[rows[i].first_impl].has_rivals = true;
  }
}

}  // namespace

const Record& PivotRow::any() const {
  return **std::ranges::find_if(records, [](const Record* record) { return record != nullptr; });
}

bool has_figures(const Record* record) {
  return record != nullptr && record->status == Status::Pass && record->perf.has_value();
}

std::vector<std::string> Pivot::not_compared() const {
  const auto is_robust = [](const RunReport& report) { return report.run.robust_access; };
  std::vector<std::string> sentences;
  if (std::ranges::any_of(reports, is_robust) && !std::ranges::all_of(reports, is_robust)) {
    std::string names;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (is_robust(reports[i])) names += (names.empty() ? "" : ", ") + devices[i];
    }
    sentences.push_back(
        "times of " + names +
        " are not compared with the others: that run checked every memory access of its kernels "
        "(--robust-access)");
  }
  if (retuned > 0) {
    sentences.push_back(fmt::format("{} not compared: tunables differ between the devices",
                                    retuned == 1 ? "1 case is" : fmt::format("{} cases are", retuned)));
  }
  return sentences;
}

double Pivot::ratio(const PivotRow& row, std::size_t device) const {
  const Record* first = rows[row.first_impl].records[device];
  const Record* record = row.records[device];
  if (!row.has_rivals || !has_figures(first) || !has_figures(record)) return 0;
  if (!(first->perf->time_us_p50 > 0)) return 0;
  return record->perf->time_us_p50 / first->perf->time_us_p50;
}

double Pivot::over_first(const PivotRow& row, std::size_t device) const {
  const Record *first = row.records.front(), *record = row.records[device];
  if (!has_figures(first) || !has_figures(record) || !(first->perf->time_us_p50 > 0)) return 0;
  return record->perf->time_us_p50 / first->perf->time_us_p50;
}

std::vector<PivotMean> Pivot::means(std::size_t device) const {
  std::vector<PivotMean> means(1);
  const auto add = [](PivotMean& mean, double ratio) {
    mean.ratio += std::log(ratio);
    ++mean.rows;
  };
  for (const PivotRow& row : rows) {
    const double ratio = over_first(row, device);
    if (!(ratio > 0)) continue;
    const std::string& op = row.any().info.op;
    auto mean = std::find_if(means.begin() + 1, means.end(), [&](const PivotMean& m) { return m.op == op; });
    if (mean == means.end()) mean = means.insert(means.end(), {.op = op});
    add(*mean, ratio);
    add(means.front(), ratio);
  }
  for (PivotMean& mean : means) {
    if (mean.rows > 0) mean.ratio = std::exp(mean.ratio / static_cast<double>(mean.rows));
  }
  return means;
}

std::vector<std::string> unique_device_names(std::span<const RunInfo> runs) {
  std::map<std::string, std::size_t> counts;
  for (const RunInfo& run : runs) ++counts[short_device_name(run.device.name)];
  std::set<std::string> taken;
  std::vector<std::string> names;
  for (const RunInfo& run : runs) {
    const std::string name = short_device_name(run.device.name);
    std::string unique = name;
    for (int number = 1; counts[name] > 1 || taken.contains(unique); ++number) {
      unique = name + " #" + std::to_string(number);
      if (!taken.contains(unique) && !counts.contains(unique)) break;
    }
    taken.insert(unique);
    names.push_back(unique);
  }
  return names;
}

Pivot make_pivot(std::span<const RunReport> reports) {
  std::vector<RunInfo> runs;
  for (const RunReport& report : reports) runs.push_back(report.run);
  Pivot pivot{.reports = reports, .devices = unique_device_names(runs), .rows = rows_of(reports)};
  find_rivals(pivot.rows);
  pivot.retuned = retuned_cases(pivot.rows);
  return pivot;
}

}  // namespace assay
