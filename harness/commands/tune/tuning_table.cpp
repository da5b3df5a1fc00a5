#include "harness/commands/tune/tuning_table.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/report/writers/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace assay::app {
namespace {

using Cells = std::vector<std::string>;

const Cells table_columns{"kernel", "tune", "status", "ratio", "ratio_low", "ratio_high", "time_us"};
enum TableColumn : std::size_t { Kernel, Tuned, StatusName, Median, Low, High, TimeUs };

constexpr std::uintmax_t most_table_bytes = std::uintmax_t{64} << 20;

template <class Number>
Number number_in(std::string_view text, const char* what) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  throw Error(fmt::format("'{}' is no {}", shortened(std::string(text), 40), what));
}

double positive(const std::string& text) {
  const auto number = number_in<double>(text, "number");
  if (std::isfinite(number) && number > 0) return number;
  throw Error(fmt::format("'{}' is no number above 0", shortened(text, 40)));
}

Tune tune_in(std::string_view cell) {
  Tune tune;
  while (!cell.empty()) {
    const std::string_view pair = cell.substr(0, cell.find(' '));
    cell.remove_prefix(std::min(pair.size() + 1, cell.size()));
    const std::size_t equals = pair.find('=');
    if (equals == pair.npos || equals == 0)
      throw Error(fmt::format("'{}' is not NAME=VALUE", shortened(std::string(pair), 40)));
    tune[std::string(pair.substr(0, equals))] =
        number_in<std::int64_t>(pair.substr(equals + 1), "whole number");
  }
  return tune;
}

TableRow row_of(const Cells& cells) {
  if (cells.size() != table_columns.size())
    throw Error(fmt::format("it has {} cells, not {}", cells.size(), table_columns.size()));
  TableRow row{.kernel = cells[Kernel], .tune = tune_in(cells[Tuned]), .ratio = {}};
  const std::optional<Status> status = parse_status(cells[StatusName]);
  if (!status) throw Error(fmt::format("'{}' is not a status", shortened(cells[StatusName], 40)));
  row.status = *status;
  if (!cells[Median].empty()) {
    row.ratio = Ratio{.median = positive(cells[Median]),
                      .interval = {.low = positive(cells[Low]), .high = positive(cells[High])},
                      .pairs = 0};
  }
  if (!cells[TimeUs].empty()) row.time_us = positive(cells[TimeUs]);
  return row;
}

/// The candidates of one kernel as a search sees them.
class Table {
 public:
  explicit Table(const std::vector<const TableRow*>& rows) {
    std::map<std::string, std::set<std::int64_t>> values;
    for (const TableRow* row : rows) {
      for (const auto& [name, value] : row->tune) values[name].insert(value);
    }
    for (const auto& [name, all] : values) {
      TuningAxis& axis = space_.axes.emplace_back();
      axis.tunable = name;
      axis.values.insert(axis.values.end(), all.begin(), all.end());
    }
    for (const TableRow* row : rows)
      times_[candidate_of(space_, row->tune)] = row->ratio ? std::optional(row->ratio->median) : std::nullopt;
    times_[Candidate(space_.axes.size(), 0)] = 1;
    space_.may_run = [this](const Candidate& candidate) { return times_.contains(candidate); };
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  std::size_t size() const { return times_.size() - 1; }
  double best() const {
    double best = 1;
    for (const auto& [candidate, time] : times_) best = std::min(best, time.value_or(1));
    return best;
  }
  template <class Search>
  double found_by(Search search, std::size_t budget, std::uint64_t seed) const {
    const SearchLimits limits{.most_candidates = budget, .exhaustive_up_to = 0, .seed = seed};
    return search(space_, limits,
                  [this](std::span<const Candidate> batch) {
                    std::vector<std::optional<double>> times;
                    for (const Candidate& candidate : batch) times.push_back(times_.at(candidate));
                    return times;
                  })
        .best_time;
  }

 private:
  TuningSpace space_;
  std::map<Candidate, std::optional<double>> times_;
};

ComparedSearches compared(const std::string& kernel, const Table& table, std::size_t budget) {
  const auto coordinate = [](const auto&... arguments) { return coordinate_search(arguments...); };
  const auto random = [](const auto&... arguments) { return random_search(arguments...); };
  ComparedSearches made{
      .kernel = kernel, .table = table.size(), .best_ratio = table.best(), .budget = budget};
  double of_coordinate = 0, of_random = 0;
  std::size_t not_worse = 0;
  for (std::uint64_t seed = 1; seed <= compared_seeds; ++seed) {
    const double one = table.found_by(coordinate, budget, seed);
    const double other = table.found_by(random, budget, seed);
    of_coordinate += std::log(one);
    of_random += std::log(other);
    if (one <= other) ++not_worse;
  }
  const auto seeds = static_cast<double>(compared_seeds);
  made.coordinate = std::exp(of_coordinate / seeds);
  made.random = std::exp(of_random / seeds);
  made.share_not_worse = static_cast<double>(not_worse) / seeds;
  return made;
}

}  // namespace

std::string tuning_table_csv(std::span<const TableRow> rows) {
  std::string text = csv_row(table_columns);
  for (const TableRow& row : rows) {
    const auto figure = [&](double value) {
      return row.ratio ? fmt::format("{:.5f}", value) : std::string();
    };
    const Ratio ratio = row.ratio.value_or(Ratio{});
    text += csv_row({row.kernel, tune_text(row.tune), std::string(name_of(row.status)), figure(ratio.median),
                     figure(ratio.interval.low), figure(ratio.interval.high),
                     row.time_us > 0 ? fmt::format("{:.4f}", row.time_us) : ""});
  }
  return text;
}

std::vector<TableRow> read_tuning_table(const std::filesystem::path& file) {
  const std::optional<std::string> text = whole_regular_file(file, most_table_bytes);
  if (!text) {
    throw Error(
        fmt::format("reading the table '{}': it is no regular file that can be read, or has more than "
                    "{} bytes",
                    file.string(), most_table_bytes));
  }
  std::vector<TableRow> rows;
  bool has_header = false;
  for_each_csv_row(*text, [&](const Cells& cells, std::size_t line) {
    try {
      if (has_header) {
        rows.push_back(row_of(cells));
      } else if (cells != table_columns) {
        throw Error(fmt::format("it has not the columns {}", fmt::join(table_columns, ", ")));
      }
      has_header = true;
    } catch (const Error& error) {
      throw Error(printable_line(
          fmt::format("reading the table '{}': line {}: {}", file.string(), line, error.what())));
    }
  });
  if (rows.empty()) throw Error(fmt::format("reading the table '{}': it has no row", file.string()));
  return rows;
}

std::vector<ComparedSearches> compare_searches(std::span<const TableRow> rows) {
  std::map<std::string, std::vector<const TableRow*>> kernels;
  for (const TableRow& row : rows) kernels[row.kernel].push_back(&row);
  std::vector<ComparedSearches> made;
  for (const auto& [kernel, own] : kernels) {
    const Table table(own);
    for (const std::size_t part : {20, 10, 5}) {
      const std::size_t budget = std::max<std::size_t>(1, table.size() / part);
      if (made.empty() || made.back().kernel != kernel || made.back().budget != budget)
        made.push_back(compared(kernel, table, budget));
    }
  }
  return made;
}

std::string text_of(std::span<const ComparedSearches> compared) {
  std::string text;
  std::string kernel;
  for (const ComparedSearches& one : compared) {
    if (one.kernel != kernel) {
      text += printable_line(
                  fmt::format("{}: {} candidates, the best {:.3f}x", one.kernel, one.table, one.best_ratio)) +
              "\n";
    }
    kernel = one.kernel;
    text += fmt::format(
        "  {:5} timed: coordinate search {:.3f}x, random search {:.3f}x; as good or better with {:.0f} % of "
        "{} seeds\n",
        one.budget, one.coordinate, one.random, 100 * one.share_not_worse, compared_seeds);
  }
  return text;
}

std::string csv_of(std::span<const ComparedSearches> compared) {
  std::string text =
      csv_row({"kernel", "candidates", "best_ratio", "budget", "coordinate", "random", "share_not_worse"});
  for (const ComparedSearches& one : compared) {
    text += csv_row({one.kernel, std::to_string(one.table), fmt::format("{:.5f}", one.best_ratio),
                     std::to_string(one.budget), fmt::format("{:.5f}", one.coordinate),
                     fmt::format("{:.5f}", one.random), fmt::format("{:.3f}", one.share_not_worse)});
  }
  return text;
}

}  // namespace assay::app
