#include "harness/report/devices/overview.h"

#include "harness/base/clock.h"
#include "harness/base/statistics.h"
#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/console/labelled_text.h"
#include "harness/report/console/terminal_text.h"
#include "harness/report/devices/pivot.h"
#include "harness/report/record/record.h"
#include "harness/report/record/run_kind.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace assay {
namespace {

using Cells = std::vector<std::string>;
using Table = std::vector<Cells>;

constexpr std::size_t most_failures = 3;
constexpr std::size_t most_ops = 12, most_steps = 12;

double share_of(const Record& row) {
  return has_figures(&row) ? percent_of_peak(*row.perf) : 0;
}

/// Figures of an op's timed rows.
struct OpFigures {
  std::size_t timed = 0;
  std::vector<double> shares;
  const Record* least = nullptr;  ///< the row with the smallest share of the ceiling
  const Record* slowest = nullptr;
};

std::vector<std::pair<std::string, OpFigures>> figures_by_op(const RunReport& report) {
  std::vector<std::pair<std::string, OpFigures>> ops;
  for (const Record& row : report.records) {
    if (!has_figures(&row)) continue;
    auto at = std::ranges::find(ops, row.info.op, &std::pair<std::string, OpFigures>::first);
    if (at == ops.end()) at = ops.insert(ops.end(), {row.info.op, {}});
    OpFigures& op = at->second;
    ++op.timed;
    if (op.slowest == nullptr || row.perf->time_us_p50 > op.slowest->perf->time_us_p50) op.slowest = &row;
    const double share = share_of(row);
    if (!(share > 0)) continue;
    op.shares.push_back(share);
    if (op.least == nullptr || share < share_of(*op.least)) op.least = &row;
  }
  return ops;
}

bool has_failed(const Record& row) {
  return class_of(row.status) != StatusClass::Fine;
}

std::size_t failures_of(const RunReport& report) {
  return static_cast<std::size_t>(std::ranges::count_if(report.records, has_failed));
}

std::string statuses_of(const RunReport& report) {
  std::map<Status, std::size_t> counts;
  for (const Record& row : report.records) ++counts[row.status];
  std::string text;
  for (const auto& [status, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name_of(status));
  return text;
}

std::string failures_text(const RunReport& report) {
  std::string text;
  std::size_t shown = 0;
  for (const Record& row : report.records) {
    if (!has_failed(row)) continue;
    if (++shown <= most_failures) {
      text += fmt::format("  {}  {} ({})\n", name_of(row.status), printable(row.info.id),
                          printable(mode_words(row.info)));
    }
  }
  if (shown > most_failures)
    text += fmt::format("  and {} more: assay show REPORT --worst\n", shown - most_failures);
  return text;
}

/// The passing row whose error is closest to its bound.
std::string accuracy_text(const RunReport& report) {
  const Record* worst = nullptr;
  for (const Record& row : report.records) {
    if (row.info.mode == "perf" || !row.accuracy || row.status != Status::Pass) continue;
    if (worst == nullptr || row.accuracy->err_over_bound > worst->accuracy->err_over_bound) worst = &row;
  }
  if (worst == nullptr || !(worst->accuracy->err_over_bound > 0)) return "";
  return "largest error/bound of the rows that passed: " + significant(worst->accuracy->err_over_bound, 3) +
         "\n  " + printable(worst->info.id) + '\n';
}

std::string run_text(const RunReport& report, std::size_t width) {
  const RunInfo& run = report.run;
  std::string text = printable(run.device.name) + ", " + printable(driver_of(run.device)) + '\n';
  text += wrapped_words("run " + printable(run.run_id) + kind_addition(kind_of_run(run)) +
                            (report.complete ? "" : ", which did not finish") + ", assay " +
                            printable(run.version),
                        width);
  text += wrapped_words("ceilings: " + ceilings_line(run.ceilings), width);
  text += wrapped_words(counted_rows(report.records.size()) + ": " + statuses_of(report), width);
  return text + failures_text(report) + accuracy_text(report);
}

/// The ops, those furthest from their ceiling first.
std::string ops_text(const RunReport& report, std::size_t width) {
  auto ops = figures_by_op(report);
  if (ops.empty()) return "";
  std::ranges::stable_sort(
      ops, {}, [](const auto& op) { return op.second.shares.empty() ? HUGE_VAL : median(op.second.shares); });
  Table table{{"timed", "% ceiling", "least", "slowest, us", "op"}};
  for (const auto& [name, op] : ops) {
    if (table.size() > most_ops) break;
    table.push_back({std::to_string(op.timed), op.shares.empty() ? "" : fixed(median(op.shares), 1),
                     op.least == nullptr ? "" : fixed(share_of(*op.least), 1),
                     fixed(op.slowest->perf->time_us_p50, 2), printable(name)});
  }
  std::string text = "\ntimed rows by op: median and smallest share of the ceiling, and the longest time\n" +
                     text_table(table, {true, true, true, true, false}, width);
  if (ops.size() > most_ops) {
    text += fmt::format("  and {} more ops, closer to their ceilings: assay show REPORT --group op\n",
                        ops.size() - most_ops);
  }
  return text;
}

std::string step_line(const ModelStep& step) {
  const double us = step.sum_us();
  return us > 0 ? (step.is_complete() ? "" : ">= ") + fixed(us / us_per_ms, 3) : "none";
}

std::string context_text(const ModelStep& step) {
  return step.context ? ", context " + std::to_string(*step.context) : "";
}

/// The fastest step of each model, number of tokens and context on each device, of runs of one kind.
std::string models_text(std::span<const RunReport> reports, const std::vector<std::string>& devices,
                        const RunKind& kind, std::size_t width) {
  std::vector<ModelSteps> all;
  for (const RunReport& report : reports)
    all.push_back(kind_of_run(report.run) == kind ? model_steps(report) : ModelSteps{});
  std::map<std::tuple<std::string, std::int64_t, std::optional<std::int64_t>>,
           std::vector<std::pair<const ModelStep*, std::size_t>>>
      steps;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const ModelStep& step : all[i].steps) {
      std::vector<std::pair<const ModelStep*, std::size_t>>& of =
          steps[{step.model, step.tokens, step.context}];
      const auto own = std::ranges::find(of, i, &std::pair<const ModelStep*, std::size_t>::second);
      const auto order = [](const ModelStep& s) { return std::pair(-s.timed_layers(), s.sum_us()); };
      if (own == of.end()) {
        of.emplace_back(&step, i);
      } else if (order(step) < order(*own->first)) {
        own->first = &step;
      }
    }
  }
  if (steps.empty()) return "";
  Table table{{"ms per step", "tokens", "device", "model and op"}};
  std::size_t more = 0;
  for (const auto& [key, of] : steps) {
    for (const auto& [step, device] : of) {
      if (table.size() > most_steps) {
        ++more;
        continue;
      }
      table.push_back({step_line(*step), step->tokens > 0 ? std::to_string(step->tokens) : "",
                       devices.size() > 1 ? devices[device] : "",
                       printable(step->model + context_text(*step) + ", " + step->op)});
    }
  }
  return '\n' +
         wrapped_words("steps of models" + kind_addition(kind) +
                           ", with the fastest op of each; --model NAME shows all",
                       width) +
         text_table(table, {true, true, false, false}, width) +
         (more > 0 ? fmt::format("  and {} more\n", more) : "");
}

std::string first_questions(std::size_t width) {
  return '\n' +
         wrapped_words("more: assay show REPORT --worst, --slowest, --furthest-from-ceiling, --group impl",
                       width);
}

/// One line per device.
std::string device_table(const Pivot& pivot, std::size_t width) {
  Table table{{"rows", "failed", "timed", "% ceiling", "time", "of rows", "device"}};
  for (std::size_t i = 0; i < pivot.reports.size(); ++i) {
    const RunReport& report = pivot.reports[i];
    std::vector<double> shares;
    std::size_t timed = 0;
    for (const Record& row : report.records) {
      timed += has_figures(&row) ? 1 : 0;
      if (share_of(row) > 0) shares.push_back(share_of(row));
    }
    const PivotMean mean = pivot.means(i).front();
    table.push_back({std::to_string(report.records.size()), std::to_string(failures_of(report)),
                     std::to_string(timed), shares.empty() ? "" : fixed(median(shares), 1),
                     mean.rows > 0 ? readable(mean.ratio, 3) + "x" : "",
                     mean.rows > 0 ? std::to_string(mean.rows) : "",
                     pivot.devices[i] + kind_addition(kind_of_run(report.run)) +
                         (report.complete ? "" : " (did not finish)")});
  }
  std::string text =
      wrapped_words(
          "devices: % ceiling is the median over the timed rows; time is the geometric mean relative to " +
              pivot.devices.front() + ", over the rows that both have",
          width) +
      text_table(table, {true, true, true, true, true, true, false}, width);
  for (const std::string& sentence : pivot.not_compared()) text += wrapped_words(printable(sentence), width);
  return text;
}

std::string ceilings_of_all(const Pivot& pivot, std::size_t width) {
  std::string text = "\nceilings\n";
  for (std::size_t i = 0; i < pivot.reports.size(); ++i) {
    text +=
        wrapped_words("- " + pivot.devices[i] + ": " + ceilings_line(pivot.reports[i].run.ceilings), width);
  }
  return text;
}

std::vector<std::size_t> places_of_kind(const Pivot& pivot, const RunKind& kind) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < pivot.reports.size(); ++i) {
    if (kind_of_run(pivot.reports[i].run) == kind) places.push_back(i);
  }
  return places;
}

std::string shares_heading(const RunKind& kind, std::size_t devices) {
  if (devices == 1) return "median % of the ceiling by op" + kind_addition(kind);
  return "median % of the ceiling" + kind_addition(kind) +
         ", for ops timed on several devices (rows may differ)";
}

/// The share of the ceiling by op, of runs of one kind: one column per device, as many as fit. If there are
/// several columns, ops that fill only one are left out.
std::string shares_by_op(const Pivot& pivot, const RunKind& kind, std::size_t width) {
  constexpr std::size_t column = 16, name_column = 36;
  const std::vector<std::size_t> places = places_of_kind(pivot, kind);
  const std::size_t fitting =
      std::clamp((width - std::min(width, name_column)) / column, std::size_t{1}, places.size());
  std::vector<std::string> order;
  std::map<std::string, Cells> shares;
  for (std::size_t i = 0; i < fitting; ++i) {
    for (const auto& [name, op] : figures_by_op(pivot.reports[places[i]])) {
      if (!shares.contains(name)) order.push_back(name);
      Cells& cells = shares[name];
      cells.resize(fitting);
      if (!op.shares.empty()) cells[i] = fixed(median(op.shares), 1);
    }
  }
  const std::ptrdiff_t fewest = fitting > 1 ? 2 : 1;
  const auto is_filled = [](const std::string& cell) { return !cell.empty(); };
  std::erase_if(order, [&](const std::string& name) {
    return std::ranges::count_if(shares.at(name), is_filled) < fewest;
  });
  if (order.empty()) return "";
  Table table(1);
  for (std::size_t i = 0; i < fitting; ++i)
    table[0].push_back(shortened_device_name(pivot.devices[places[i]], column - 2));
  table[0].emplace_back("op");
  for (const std::string& name : order) {
    if (table.size() > most_ops) break;
    Cells cells = shares.at(name);
    cells.push_back(printable(name));
    table.push_back(std::move(cells));
  }
  std::vector<bool> right(fitting + 1, true);
  right.back() = false;
  std::string text =
      '\n' + wrapped_words(shares_heading(kind, fitting), width) + text_table(table, right, width);
  if (order.size() > most_ops) text += fmt::format("  and {} more ops\n", order.size() - most_ops);
  if (fitting < places.size()) text += fmt::format("  and {} more devices\n", places.size() - fitting);
  return text;
}

}  // namespace

std::string overview_text(std::span<const RunReport> reports, std::size_t width) {
  const Pivot pivot = make_pivot(reports);
  std::set<RunKind> kinds;
  for (const RunReport& report : reports) kinds.insert(kind_of_run(report.run));
  std::string shares, models;
  for (const RunKind& kind : kinds) {
    shares += shares_by_op(pivot, kind, width);
    models += models_text(reports, pivot.devices, kind, width);
  }
  if (reports.size() == 1)
    return run_text(reports[0], width) + ops_text(reports[0], width) + models + first_questions(width);
  return device_table(pivot, width) + ceilings_of_all(pivot, width) + shares + models +
         first_questions(width);
}

}  // namespace assay
