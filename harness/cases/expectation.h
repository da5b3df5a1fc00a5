#pragma once

#include "harness/base/source_location.h"
#include "harness/base/status.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// A row in the words that expectations match: those of its reports.
struct RowWords {
  std::string_view id;
  std::string_view case_id;  ///< the same without "/cold" and "/versus"; empty: no other than `id`
  std::string_view params;   ///< canonical "name=value" pairs
  std::string_view mode;     ///< "accu" or "perf"
  std::string_view impl;
};

/// A rule: what is known beforehand of rows on a device.
struct Expectation {
  enum class Kind : std::uint8_t {
    Fail,  ///< they run; ending in one of `statuses` is EXPECTED_FAIL, passing is UNEXPECTED_PASS
    Skip,  ///< they do not run: SKIPPED
  };

  std::string match;  ///< a glob over the ids of rows and of their cases
  std::vector<std::pair<std::string, std::string>>
      params;        ///< all must have these values, as reports write them
  std::string mode;  ///< "accu" or "perf"; empty: both
  std::string impl;  ///< a glob; empty: every one
  Kind kind = Kind::Fail;
  std::vector<Status> statuses{Status::Fail};  ///< Kind::Fail: what is expected
  std::string reason;
  std::string link;                              ///< to where the bug is discussed; or empty
  std::optional<std::chrono::sys_days> expires;  ///< the last day on which it counts, UTC
  SourceLocation where;

  bool matches(const RowWords& row) const;
  bool expects(Status status) const;
  /// "REASON" or "REASON, LINK".
  std::string why() const;
};

/// The day it is now, UTC.
std::chrono::sys_days today_utc();

/// "2026-01-31"
std::string date_text(std::chrono::sys_days day);

/// The day that a text in the form of date_text() names; nothing where it is none.
std::optional<std::chrono::sys_days> parse_date(std::string_view text);

}  // namespace assay
