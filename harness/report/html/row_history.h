#pragma once

#include "harness/report/html/json_columns.h"
#include "harness/report/trend/nights.h"

#include <span>

namespace assay {

/// The history of each row of a device over its nights.
class RowHistory {
 public:
  /// Adds the rows of a track, in the page's order.
  void add(const NightSummaries& nights, const Track& track, std::span<const RowKey> rows);

  /// Returns {"words": statuses, "rows": for each row its columns, with one entry or null per night of its
  /// track} and clears the history. Columns: "t" time in us, "c" its interval in %, "e" err_over_bound, "s"
  /// status (-1: the night does not have the row), "h" number of the output hash; a column is left out if it
  /// has no value.
  Json take();

 private:
  Json rows_ = Json::array();
};

}  // namespace assay
