#include "harness/commands/mutate/row_order.h"

#include "harness/base/hash.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

namespace assay::app {
namespace {

/// Rows that killed neighbours and come first; more would keep rows of other kinds waiting.
constexpr std::size_t most_proven = 6;
/// The distance in lines at which a kill counts half.
constexpr double near_lines = 8;

std::string kind_of(const TrialRow& row) {
  std::string text = row.test_case->op->name + "\n" + row.test_case->impl->name;
  for (const auto& [shader, defines, folders] : row.variants) {
    text += "\n" + shader;
    for (const Define& define : defines)
      text.append(" ").append(define.name).append("=").append(define.value);
  }
  return text;
}

using Indices = std::vector<std::size_t>;

/// Deals rows out in turns: of each kind the first, then of each the second. A turn has the cheapest first.
template <class KindOf>
Indices dealt(std::span<const TrialRow> rows, const Indices& dealt_from, KindOf kind_of_row) {
  std::map<std::string, std::size_t> turns_of;
  std::vector<std::tuple<std::size_t, double, std::size_t>> turns;  // turn, cost, row
  for (const std::size_t row : dealt_from)
    turns.emplace_back(turns_of[kind_of_row(rows[row])]++, rows[row].cost, row);
  std::ranges::sort(turns);
  Indices order;
  for (const auto& [turn, cost, row] : turns) order.push_back(row);
  return order;
}

/// By variant, and those of one variant by their traits.
Indices dealt(std::span<const TrialRow> rows, Indices users) {
  std::ranges::stable_sort(users, {}, [&](std::size_t row) { return rows[row].cost; });
  const auto traits = [](const TrialRow& row) { return kind_of(row) + row.traits; };
  return dealt(rows, dealt(rows, users, traits), kind_of);
}

/// Rows of both orders in turn, each once. A feature that the cheapest row of no variant has is found by
/// chance.
Indices mixed(const Indices& a, const Indices& b) {
  Indices order;
  std::set<std::size_t> taken;
  const auto take = [&](std::size_t row) {
    if (taken.insert(row).second) order.push_back(row);
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    take(a[i]);
    take(b[i]);
  }
  return order;
}

Indices shuffled(std::span<const TrialRow> rows, Indices users) {
  std::ranges::stable_sort(users, {}, [&](std::size_t row) { return hash64(rows[row].test_case->id); });
  return users;
}

}  // namespace

RowOrder::RowOrder(std::span<const TrialRow> rows, const std::vector<std::size_t>& users)
    : order_(mixed(dealt(rows, users), shuffled(rows, users))) {}

std::vector<std::size_t> RowOrder::rows_for(int line) const {
  std::map<std::size_t, double> weights;
  for (const Seen& kill : kills_) weights[kill.row] += 1 / (1 + std::abs(kill.line - line) / near_lines);
  std::vector<std::pair<double, std::size_t>> proven;
  for (const auto& [row, weight] : weights) proven.emplace_back(-weight, row);
  std::ranges::sort(proven);
  std::vector<std::size_t> order;
  std::set<std::size_t> taken;
  for (std::size_t i = 0; i < std::min(proven.size(), most_proven); ++i) {
    order.push_back(proven[i].second);
    taken.insert(proven[i].second);
  }
  std::ranges::copy_if(order_, std::back_inserter(order),
                       [&](std::size_t row) { return !taken.contains(row); });
  return order;
}

void RowOrder::note_kill(int line, std::size_t row) {
  kills_.push_back({line, row});
}

}  // namespace assay::app
