#pragma once

#include "harness/base/source_location.h"
#include "harness/base/status.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// A row as expectations see it, with the texts of its reports.
struct RowWords {
  std::string_view id;
  std::string_view case_id;  ///< the case's id, without the row's "/cold" and "/versus"; empty: equal to `id`
  std::string_view params;   ///< canonical "name=value" pairs
  std::string_view mode;     ///< "accu" or "perf"
  std::string_view impl;
};

/// The kinds of failure that a rule may expect in `metric`: what reports call the metric of a wrong answer or
/// of one that proves little, and these kinds of FAIL that have none there.
inline constexpr std::string_view no_answer = "no_answer";  ///< no answer was checked: no shader was compiled
inline constexpr std::string_view layer_messages = "layer_messages";  ///< right, with messages of the layer
inline constexpr std::string_view later_run = "later_run";  ///< right, but not on secret data or while timed
std::span<const std::string_view> failure_metrics();

/// A rule that says what is known in advance about rows on a device.
struct Expectation {
  enum class Kind : std::uint8_t {
    Fail,  ///< the rows run; ending in one of `statuses` is EXPECTED_FAIL, passing is UNEXPECTED_PASS
    Skip,  ///< the rows do not run: SKIPPED
  };

  std::string match;  ///< a glob over the ids of rows and of their cases
  std::vector<std::pair<std::string, std::string>>
      params;        ///< the row must have all these values, written as in reports
  std::string mode;  ///< "accu" or "perf"; empty: both
  std::string impl;  ///< a glob; empty: every impl
  Kind kind = Kind::Fail;
  std::vector<Status> statuses{Status::Fail};  ///< for Kind::Fail: the expected statuses
  /// Of FAIL and MISTRUSTED, only these kinds are expected (failure_metrics); none: every kind.
  std::vector<std::string> metrics;
  std::string reason;
  std::string link;                              ///< where the bug is discussed, or empty
  std::optional<std::chrono::sys_days> expires;  ///< the last day on which the rule applies, UTC
  SourceLocation where;

  bool matches(const RowWords& row) const;
  /// Whether the rule expects that a row ends so; `metric` is one of failure_metrics(), or empty.
  bool expects(Status status, std::string_view metric) const;
  /// Returns "REASON" or "REASON, LINK".
  std::string why() const;
};

/// Returns the current day in UTC.
std::chrono::sys_days today_utc();

/// Returns text such as "2026-01-31".
std::string date_text(std::chrono::sys_days day);

/// Parses text in the form of date_text(); nothing if it is not a valid day.
std::optional<std::chrono::sys_days> parse_date(std::string_view text);

}  // namespace assay
