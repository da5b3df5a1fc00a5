#include "harness/engine/supervision/shared_rows.h"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

/// The remaining rows are divided into this many parts per worker; a worker takes one part at a time.
constexpr std::size_t parts_a_worker = 4;

}  // namespace

void SharedRows::add(std::span<const RowInfo> plan, const RowsLeft& left,
                     const std::set<RowIndex>& suspected) {
  const RowInfo* last = nullptr;
  for (RowIndex row = 0; row < plan.size(); ++row) {
    if (plan[row].mode != "accu" || !left.wants(row)) continue;
    if (suspected.contains(row)) {
      suspected_.push_back(row);
      continue;
    }
    if (last == nullptr || last->group != plan[row].group) groups_.emplace_back();
    groups_.back().push_back(row);
    last = &plan[row];
  }
}

std::vector<RowIndex> SharedRows::take() {
  if (!suspected_.empty()) return std::exchange(suspected_, {});
  std::vector<RowIndex> rows;
  const std::size_t fair = groups_.size() / (parts_a_worker * workers_);
  for (std::size_t count = std::max<std::size_t>(1, fair); count > 0 && !groups_.empty(); --count) {
    rows.insert(rows.end(), groups_.front().begin(), groups_.front().end());
    groups_.pop_front();
  }
  return rows;
}

void SharedRows::give_back(RowIndex row, const RowEnd& end) {
  groups_.push_back({row});
  given_back_.insert_or_assign(row, end);
}

std::map<RowIndex, std::optional<RowEnd>> SharedRows::take_rest() {
  std::map<RowIndex, std::optional<RowEnd>> rest;
  while (has_rows()) {
    for (const RowIndex row : take()) {
      const auto end = given_back_.find(row);
      rest.emplace(row, end == given_back_.end() ? std::nullopt : std::optional(end->second));
    }
  }
  return rest;
}

}  // namespace assay
