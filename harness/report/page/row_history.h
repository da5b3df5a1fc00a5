#pragma once

#include "harness/report/page/json_columns.h"
#include "harness/report/page/nights.h"

#include <span>

namespace assay {

/// What the nights of a device tell of each of its rows.
class RowHistory {
 public:
  /// The rows of a track, in the page's order.
  void add(const NightSummaries& nights, const Track& track, std::span<const RowKey> rows);

  /// {"words": statuses, "rows": for each row its columns, an entry a night of its track, or null}. Columns:
  /// "t" time in us, "c" its interval in %, "e" err_over_bound, "s" status (-1: the night lacks the row), "h"
  /// number of the output hash; each only where it has something to tell. Begins anew.
  Json take();

 private:
  Json rows_ = Json::array();
};

}  // namespace assay
