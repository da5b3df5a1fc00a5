#include "harness/commands/mutate/row_order.h"

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
  for (const auto& [shader, defines] : row.variants) {
    text += "\n" + shader;
    for (const Define& define : defines)
      text.append(" ").append(define.name).append("=").append(define.value);
  }
  return text;
}

/// Deals the rows out by kind, the cheapest of each kind first.
std::vector<std::size_t> dealt(std::span<const TrialRow> rows, const std::vector<std::size_t>& users) {
  std::map<std::string, std::vector<std::size_t>> by_kind;
  for (const std::size_t user : users) by_kind[kind_of(rows[user])].push_back(user);
  std::vector<std::tuple<std::size_t, double, std::size_t>> turns;  // turn, cost, row
  for (auto& [kind, of_kind] : by_kind) {
    std::ranges::stable_sort(of_kind, {}, [&](std::size_t row) { return rows[row].cost; });
    for (std::size_t turn = 0; turn < of_kind.size(); ++turn)
      turns.emplace_back(turn, rows[of_kind[turn]].cost, of_kind[turn]);
  }
  std::ranges::sort(turns);
  std::vector<std::size_t> order;
  for (const auto& [turn, cost, row] : turns) order.push_back(row);
  return order;
}

}  // namespace

RowOrder::RowOrder(std::span<const TrialRow> rows, std::vector<std::size_t> users)
    : by_turns_(dealt(rows, users)) {}

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
  std::ranges::copy_if(by_turns_, std::back_inserter(order),
                       [&](std::size_t row) { return !taken.contains(row); });
  return order;
}

void RowOrder::note_kill(int line, std::size_t row) {
  kills_.push_back({line, row});
}

}  // namespace assay::app
