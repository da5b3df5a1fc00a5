#include "harness/report/console/time_left.h"

namespace assay {

void TimeLeft::plan(std::span<const RowInfo> planned, double now) {
  accu_ = perf_ = {};
  since_ = now;
  for (const RowInfo& row : planned) ++kind_of(row).left;
}

void TimeLeft::ended(const RowInfo& row, double now) {
  Kind& kind = kind_of(row);
  if (kind.left > 0) --kind.left;
  ++kind.ended;
  kind.seconds += now - since_;
  since_ = now;
}

std::optional<double> TimeLeft::seconds() const {
  if (accu_.left + perf_.left == 0) return std::nullopt;
  double sum = 0;
  for (const Kind& kind : {accu_, perf_}) {
    if (kind.left == 0) continue;
    if (kind.ended == 0) return std::nullopt;
    sum += static_cast<double>(kind.left) * kind.seconds / static_cast<double>(kind.ended);
  }
  return sum;
}

}  // namespace assay
