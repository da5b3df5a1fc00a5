#pragma once

#include "harness/base/status.h"
#include "harness/report/record/chain_plan.h"
#include "harness/report/record/perf_result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// How a row ended by itself, if a rule of the expectations has changed its status.
struct OwnEnd {
  Status status = Status::Missing;
  std::string reason;
};

/// The reason of a row that was cut short or not reached because the run was stopped contains these words
/// (RowEnd::stopped says so to programs).
inline constexpr std::string_view stopped_because = "the run was stopped";

/// The event of a row's end: its status, and the facts that no earlier event has.
struct RowEnd {
  Status status = Status::Missing;
  std::string reason;  ///< a sentence with numbers, for every status but PASS
  /// Result of a failed row's second try: "REPRODUCED" or "ORDER_DEPENDENT"; empty: there was none. (A row
  /// that passed once and failed once is FLAKY, which is a status.)
  std::string retry;
  /// What the driver failed to do for the row at first and did when asked again, as a sentence; empty:
  /// nothing.
  std::string driver_retry;
  /// The row did not run, or not to its end, because the run was stopped, and not because its device was
  /// given up.
  bool stopped = false;
  std::optional<OwnEnd> own_end;   ///< see Record
  std::optional<PerfResult> perf;  ///< if the row has a time; without the figures that its blocks give
  std::optional<ChainPlan> chain;  ///< see Record
  std::int64_t validation_messages = 0;
  std::vector<std::string> validation_texts;  ///< see Record
  double total_ms = 0;
  std::optional<TimeSpent> spent;
};

}  // namespace assay
