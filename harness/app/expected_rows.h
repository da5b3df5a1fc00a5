#pragma once

#include "harness/cases/expectations.h"
#include "harness/report/record/forwarded_events.h"

#include <string>
#include <vector>

namespace assay::app {

/// Passes every event on to another listener, after applying the expectations to each end: see as_expected().
/// This covers ends from the engine and ends of rows whose worker crashed.
class ExpectedRows final : public ForwardedEvents {
 public:
  /// `expectations` and `next` must outlive this.
  ExpectedRows(const Expectations& expectations, std::string device_name, RunListener& next);

  void plan(std::span<const RowInfo> rows) override;
  void end(RowIndex row, const RowEnd& end) override;

 private:
  const Expectations& expectations_;
  std::string device_name_;
  std::vector<const Expectation*> rules_;  ///< one per planned row; null: no rule
};

/// The end of a row that a rule matches: EXPECTED_FAIL if it ended in one of the rule's statuses,
/// UNEXPECTED_PASS (without a time) if it passed although the rule expects a failure, else unchanged.
RowEnd as_expected(RowEnd end, const Expectation& rule);

}  // namespace assay::app
