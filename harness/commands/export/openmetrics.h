#pragma once

#include "harness/report/record/record.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::app {

/// A family of metrics; all are gauges.
struct MetricFamily {
  std::string_view name;  ///< ends in the unit: "assay_row_time_seconds"
  std::string_view unit;  ///< "seconds"; empty: a number
  std::string_view labels;
  std::string_view help;
};

/// All families, in the order of the text.
std::span<const MetricFamily> metric_families();

/// The families as Markdown, for docs/export.md.
std::string metric_families_markdown();

using Labels = std::vector<std::pair<std::string_view, std::string>>;

/// `{device="H100",op="clone"}`, with backslashes, quotes and line feeds escaped.
std::string labels_text(const Labels& labels);

/// Collects the figures of runs and formats them as OpenMetrics text
/// (https://prometheus.io/docs/specs/om/open_metrics_spec/). A series has at most one value per second.
class OpenMetrics {
 public:
  /// Returns false if the run has no valid time of its start, and adds nothing.
  bool add(const RunReport& report);

  enum class Times : bool { All, Newest };
  /// Newest: only the values of each device's newest run, without their time, as scrapes and node_exporter
  /// need them.
  std::string text(Times times) const;

 private:
  struct Series {
    std::string device;                     ///< its key
    std::map<std::int64_t, double> values;  ///< by seconds since 1970
  };

  void add_value(std::string_view family, const Labels& labels, double value);
  void add_run(const RunReport& report, const Labels& device);
  void add_ceilings(const Ceilings& ceilings, const Labels& device);
  void add_row(const Record& record, const Labels& device);
  std::string samples(std::string_view name, const std::string& labels, const Series& series,
                      Times times) const;

  std::string device_;                            ///< key of the device whose run is being added
  std::int64_t time_s_ = 0;                       ///< start of that run
  std::map<std::string, std::int64_t> newest_s_;  ///< start of each device's newest run
  std::map<std::string_view, std::map<std::string, Series>> families_;  ///< series by labels
};

/// Seconds since 1970 of a time as utc_text() writes it, "2026-01-02T03:04:05Z"; absent if it is none.
std::optional<std::int64_t> unix_seconds(const std::string& utc);

}  // namespace assay::app
