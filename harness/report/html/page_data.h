#pragma once

#include "harness/report/compare/run_noise.h"
#include "harness/report/record/record.h"
#include "harness/report/trend/nights.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A part of a page's data: JSON that the page's script reads on demand.
struct PagePart {
  std::string name;  ///< "core", "facts-0", ...: characters that are not markup
  std::string packed;
};

/// The verdict on a night, as text for people.
struct NightText {
  std::string name;  ///< of the night's folder
  std::string text;  ///< verdict.txt: the verdict in its first line
};

/// Collects the data of a page, one night after the other, so that only two journals are in memory at a time.
///
/// The parts are "core" (runs, devices, cases and the figures for the charts, column by column: all that the
/// first view needs) and for each device d "facts-d" (every column of the CSV files, failures as `assay show`
/// shows them), "samples-d" (raw samples by block, also the base's) and "history-d" (every row in every
/// night). harness/report/html/assets/data.js reads them.
class PageData {
 public:
  /// `nights` must outlive this. `noise`: see compare_runs().
  explicit PageData(const NightSummaries& nights, RunNoise noise = {});
  ~PageData();
  PageData(const PageData&) = delete;
  PageData& operator=(const PageData&) = delete;

  /// Puts a verdict at the top of the page.
  void opens_with(NightText night);

  /// Adds a track of runs on one device: its newest report, the report that this one is compared with (null
  /// if none has a row in common), and all its nights. Tracks of one device must be added one after another.
  void add(const Track& track, const RunReport& newest, const RunReport* base);

  std::vector<PagePart> parts() &&;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// The fixed parts of every page: markup, style, script and the chart library with its licence, assembled
/// when assay is built (cmake/embed_page.cmake). The data go between the two halves.
std::string_view page_head();
std::string_view page_tail();

/// One self-contained HTML file that needs no server and no network. The data cannot become markup or script:
/// they are embedded as base64, and the script shows them only as text.
std::string page_html(std::span<const PagePart> parts);

/// A change in the environment of the rows between two runs.
struct EnvironmentChange {
  std::string what;        ///< "driver"; ends with "(hash)" if the values are hashes
  std::string base, next;  ///< hashes are whole: who shows them may shorten them
};

/// The differences between two runs' environments on which figures depend. Ceilings are listed if they differ
/// by more than 2 %, as smaller differences are scatter.
std::vector<EnvironmentChange> environment_changes(const RunInfo& base, const RunInfo& next);

/// Text as it is embedded in a page: deflated (RFC 1950) and in base64, so that the result never contains
/// markup, quotes or line ends.
std::string packed(std::string_view text);

/// Base64 as in RFC 4648, with padding.
std::string base64(std::string_view bytes);

}  // namespace assay
