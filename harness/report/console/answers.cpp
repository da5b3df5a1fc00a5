#include "harness/report/console/answers.h"

#include "harness/base/error.h"
#include "harness/base/statistics.h"
#include "harness/base/text.h"
#include "harness/report/console/terminal_text.h"
#include "harness/report/record/failure_groups.h"
#include "harness/report/record/record.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

namespace assay {
namespace {

using Cells = std::vector<std::string>;
using Table = std::vector<Cells>;

bool is_timed(const Record* row) {
  return row->status == Status::Pass && row->perf && row->perf->time_us_p50 > 0;
}

bool has_failed(const Record* row) {
  return class_of(row->status) != StatusClass::Fine;
}

double spent_of(const Record* row) {
  return row->accuracy ? row->accuracy->err_over_bound : 0;
}

double time_of(const Record* row) {
  return row->perf->time_us_p50;
}

std::string name_of_row(const Record* row) {
  const bool is_hot_perf = row->info.mode == "perf" && row->info.cache != "cold";
  return printable(row->info.id) + (is_hot_perf ? "" : " (" + printable(mode_words(row->info)) + ")");
}

template <class Wanted>
std::vector<const Record*> those(Rows rows, Wanted is_wanted) {
  std::vector<const Record*> chosen;
  std::ranges::copy_if(rows, std::back_inserter(chosen), is_wanted);
  return chosen;
}

std::string head(std::size_t shown, std::size_t all, const std::string& what) {
  return fmt::format("{} of {}, {}\n", std::min(shown, all), counted_rows(all), what);
}

std::string percent_text(double percent) {
  return percent > 0 ? fixed(percent, 1) : "";
}

std::string share_text(double share) {
  return share > 0 ? significant(share, 3) : "0";
}

Cells worst_cells(const Record* row) {
  Cells cells{std::string(name_of(row->status))};
  if (row->accuracy) {
    const AccuracyResult& a = *row->accuracy;
    cells.insert(cells.end(), {share_text(a.err_over_bound), significant(a.max_abs_err, 4),
                               a.mismatches > 0 ? std::to_string(a.mismatches) : "", a.metric});
  } else {
    cells.insert(cells.end(), {"", "", "", printable(first_line(row->reason))});
  }
  cells.push_back(name_of_row(row));
  return cells;
}

Cells time_cells(const Record* row) {
  const PerfResult& perf = *row->perf;
  return {fixed(perf.time_us_p50, 2), fixed(perf.ci_pct, 1), percent_text(percent_of_peak(perf)),
          perf.limited_by, name_of_row(row)};
}

/// A property by which rows are grouped.
struct GroupKey {
  std::string name;
  std::function<std::string(const Record*)> value;
};

std::string impl_text(const RowInfo& info) {
  return info.op + " " + info.impl + (info.versus ? " versus" : "");
}

std::vector<GroupKey> keys() {
  const auto member = [](std::string name, std::string RowInfo::*value) {
    return GroupKey{std::move(name), [value](const Record* row) { return row->info.*value; }};
  };
  return {{"impl", [](const Record* row) { return impl_text(row->info); }},
          member("op", &RowInfo::op),
          member("dtype", &RowInfo::dtype),
          member("cache", &RowInfo::cache),
          member("tier", &RowInfo::tier),
          member("model", &RowInfo::model),
          member("layer", &RowInfo::layer),
          member("shape", &RowInfo::shape),
          {"forms", [](const Record* row) { return asked_forms(row->info); }},
          {"status", [](const Record* row) { return std::string(name_of(row->status)); }},
          {"failure",
           [](const Record* row) {
             const std::optional<FailureWords> failure = failure_of(*row);
             return failure ? failure->group : "";
           }},
          {"limited_by", [](const Record* row) { return is_timed(row) ? row->perf->limited_by : ""; }}};
}

GroupKey key_named(const std::string& name) {
  for (const GroupKey& key : keys()) {
    if (key.name == name) return key;
  }
  throw Error(fmt::format("--group: rows cannot be grouped by '{}'; known are {}", printable(name),
                          fmt::join(group_keys(), ", ")));
}

/// The figures of one group of rows.
struct GroupFigures {
  std::size_t rows = 0, failed = 0, timed = 0;
  double spent = 0;            ///< largest share of a bound that was spent
  std::vector<double> peaks;   ///< shares of the ceiling
  std::vector<double> ratios;  ///< logarithms of the ratios to the slowest impl
  std::size_t best = 0,
              of = 0;  ///< cases with several impls, and how many of them this one is the fastest of
};

/// Rows with equal keys are of one case, and may differ in their impl.
using CaseKey = std::tuple<std::string, std::string, std::string, bool>;

CaseKey case_of(const Record* row) {
  return {row->info.group, row->info.cache, asked_forms(row->info), row->info.versus};
}

/// The fastest named impl of each case that names several.
std::map<CaseKey, double> fastest_of(Rows rows) {
  std::map<CaseKey, double> best;
  for (const Record* row : rows) {
    if (!is_timed(row) || !row->perf->ratio || row->info.impl == "auto") continue;
    const auto [at, is_first] = best.try_emplace(case_of(row), time_of(row));
    if (!is_first) at->second = std::min(at->second, time_of(row));
  }
  return best;
}

void add_row(GroupFigures& group, const Record* row, const std::map<CaseKey, double>& fastest) {
  ++group.rows;
  group.failed += has_failed(row) ? 1 : 0;
  if (row->info.mode != "perf") group.spent = std::max(group.spent, spent_of(row));
  if (!is_timed(row)) return;
  ++group.timed;
  if (const double peak = percent_of_peak(*row->perf); peak > 0) group.peaks.push_back(peak);
  if (!row->perf->ratio) return;
  group.ratios.push_back(std::log(*row->perf->ratio));
  const auto best = fastest.find(case_of(row));
  if (row->info.impl == "auto" || best == fastest.end()) return;
  ++group.of;
  group.best += time_of(row) <= best->second ? 1 : 0;
}

double geometric_mean(const std::vector<double>& logarithms) {
  double sum = 0;
  for (const double value : logarithms) sum += value;
  return std::exp(sum / static_cast<double>(logarithms.size()));
}

Cells group_cells(const std::string& name, const GroupFigures& group, bool of_impls) {
  const bool has_ratio = of_impls && !group.ratios.empty();
  return {std::to_string(group.rows),
          group.failed > 0 ? std::to_string(group.failed) : "",
          group.spent > 0 ? share_text(group.spent) : "",
          group.timed > 0 ? std::to_string(group.timed) : "",
          group.peaks.empty() ? "" : fixed(median(group.peaks), 1),
          has_ratio ? readable(geometric_mean(group.ratios), 3) : "",
          of_impls && group.of > 0 ? fmt::format("{} of {}", group.best, group.of) : "",
          name.empty() ? "-" : printable(name)};
}

}  // namespace

std::string worst_text(Rows rows, std::size_t count, std::size_t width) {
  std::vector<const Record*> worst = those(
      rows, [](const Record* row) { return has_failed(row) || (row->info.mode != "perf" && row->accuracy); });
  std::ranges::stable_sort(worst, std::ranges::greater(),
                           [](const Record* row) { return std::tuple(has_failed(row), spent_of(row)); });
  Table table{{"status", "err/bound", "error", "wrong", "metric", "row"}};
  for (std::size_t i = 0; i < std::min(count, worst.size()); ++i) table.push_back(worst_cells(worst[i]));
  return head(count, worst.size(), "failures first, then by the share of the accuracy bound that was spent") +
         text_table(table, {false, true, true, true, false, false}, width);
}

std::string slowest_text(Rows rows, std::size_t count, std::size_t width) {
  std::vector<const Record*> slowest = those(rows, is_timed);
  std::ranges::stable_sort(slowest, std::ranges::greater(), time_of);
  Table table{{"us", "+- %", "% ceiling", "limited by", "row"}};
  for (std::size_t i = 0; i < std::min(count, slowest.size()); ++i) table.push_back(time_cells(slowest[i]));
  return head(count, slowest.size(), "the longest median time first") +
         text_table(table, {true, true, true, false, false}, width);
}

std::string furthest_from_ceiling_text(Rows rows, std::size_t count, std::size_t width) {
  const auto share = [](const Record* row) { return percent_of_peak(*row->perf); };
  std::vector<const Record*> held =
      those(rows, [&](const Record* row) { return is_timed(row) && share(row) > 0; });
  const std::size_t timed = those(rows, is_timed).size();
  std::ranges::stable_sort(held, std::ranges::greater(), [](const Record* row) { return us_to_gain(*row); });
  Table table{{"us to gain", "us", "calls", "% ceiling", "limited by", "row"}};
  for (std::size_t i = 0; i < std::min(count, held.size()); ++i) {
    const Record& row = *held[i];
    table.push_back({fixed(us_to_gain(row), 2), fixed(time_of(&row), 2),
                     row.info.calls > 1 ? std::to_string(row.info.calls) : "", significant(share(&row), 3),
                     row.perf->limited_by, name_of_row(&row)});
  }
  std::string text = head(count, held.size(), "the most time to gain at a row's nearer ceiling first") +
                     text_table(table, {true, true, true, true, false, false}, width);
  if (timed > held.size())
    text += fmt::format("{} without a known ceiling\n", counted_rows(timed - held.size()));
  return text;
}

std::vector<std::string> group_keys() {
  std::vector<std::string> names;
  for (const GroupKey& key : keys()) names.push_back(key.name);
  return names;
}

std::string grouped_text(Rows rows, const std::string& key, std::size_t width) {
  const GroupKey by = key_named(key);
  const std::map<CaseKey, double> fastest = fastest_of(rows);
  std::map<std::string, GroupFigures> groups;
  std::vector<std::string> order;
  for (const Record* row : rows) {
    const std::string value = by.value(row);
    if (key == "failure" && value.empty()) continue;  // it passed
    if (!groups.contains(value)) order.push_back(value);
    add_row(groups[value], row, fastest);
  }
  Table table{{"rows", "failed", "err/bound", "timed", "% ceiling", "ratio", "fastest", key}};
  for (const std::string& value : order) table.push_back(group_cells(value, groups.at(value), key == "impl"));
  std::string text =
      fmt::format("{} by {}; % ceiling is the median of the timed rows{}\n", counted_rows(rows.size()), key,
                  key == "impl" ? ", ratio the geometric mean of the time over\nthat of the slowest impl of "
                                  "the same case, fastest of the cases with several impls"
                                : "");
  return text + text_table(table, {true, true, true, true, true, true, true, false}, width);
}

std::string group_of(const Record& row, const std::string& key) {
  return key_named(key).value(&row);
}

std::string rows_of_group_text(Rows rows, const std::string& group, std::size_t width) {
  Table table{{"status", "us", "% ceiling", "err/bound", "row", "why"}};
  for (const Record* row : rows) {
    const std::optional<FailureWords> failure = failure_of(*row);
    const bool was_judged = row->accuracy && row->info.mode != "perf";
    table.push_back({std::string(name_of(row->status)), is_timed(row) ? fixed(time_of(row), 2) : "",
                     is_timed(row) ? percent_text(percent_of_peak(*row->perf)) : "",
                     was_judged ? share_text(spent_of(row)) : "", name_of_row(row),
                     !failure                 ? ""
                     : failure->story.empty() ? printable(failure->kind)
                                              : printable(failure->story)});
  }
  return fmt::format("{} of {}\n", counted_rows(rows.size()), printable(group)) +
         text_table(table, {false, true, true, true, false, false}, width);
}

}  // namespace assay
