#pragma once

#include "harness/report/page/nights.h"
#include "harness/report/record/run_report.h"

#include <memory>
#include <string>
#include <vector>

namespace assay {

/// A part of a page's data: JSON that the page's script reads when it needs it.
struct PagePart {
  std::string name;  ///< "core", "facts-0", ...: of characters that are no markup
  std::string packed;
};

/// Collects what a page shows: one night after the other, so that only two journals are in memory at a time.
///
/// The parts are "core" (runs, devices, cases and the figures that pictures are drawn of, column by column:
/// all that the first view needs) and for each device d "facts-d" (every column of the CSV files, failures as
/// `assay show` tells them), "samples-d" (raw samples by block, the base's too) and "history-d" (every row in
/// every night). reports/page/data.js reads them.
class PageData {
 public:
  /// `nights` must outlive this.
  explicit PageData(const NightSummaries& nights);
  ~PageData();
  PageData(const PageData&) = delete;
  PageData& operator=(const PageData&) = delete;

  /// A track of runs on one device: its newest report, what that is compared with (if there is a report
  /// that has a row in common with it), and all its nights. Tracks of one device are told one after another.
  void add(const Track& track, const RunReport& newest, const RunReport* base);

  std::vector<PagePart> parts() &&;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay
