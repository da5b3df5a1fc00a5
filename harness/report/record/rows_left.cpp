#include "harness/report/record/rows_left.h"

#include <string_view>
#include <unordered_map>

namespace assay {

std::set<RowIndex> baselines_in(std::span<const RowInfo> plan) {
  std::unordered_map<std::string_view, RowIndex> timed;
  for (RowIndex row = 0; row < plan.size(); ++row) {
    if (plan[row].mode == "perf") timed.emplace(plan[row].id, row);
  }
  std::set<RowIndex> rows;
  for (const RowInfo& info : plan) {
    const auto found = info.baseline.empty() ? timed.end() : timed.find(info.baseline);
    if (found != timed.end()) rows.insert(found->second);
  }
  return rows;
}

}  // namespace assay
