#include "harness/report/record/rows_left.h"

#include <string>
#include <string_view>
#include <unordered_map>

namespace assay {

std::set<RowIndex> baselines_in(std::size_t rows, const std::function<const RowInfo&(RowIndex)>& info_of) {
  std::unordered_map<std::string_view, RowIndex> timed;
  for (RowIndex row = 0; row < rows; ++row) {
    if (info_of(row).mode == "perf") timed.emplace(info_of(row).id, row);
  }
  std::set<RowIndex> baselines;
  for (RowIndex row = 0; row < rows; ++row) {
    const std::string& baseline = info_of(row).baseline;
    const auto found = baseline.empty() ? timed.end() : timed.find(baseline);
    if (found != timed.end()) baselines.insert(found->second);
  }
  return baselines;
}

}  // namespace assay
