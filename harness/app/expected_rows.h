#pragma once

#include "harness/cases/expectations.h"
#include "harness/report/record/forwarded_events.h"

#include <string>
#include <vector>

namespace assay::app {

/// Passes every event on to another listener, with what was expected of its row in each end: see
/// as_expected(). It does not matter who tells the end: the engine, or whoever saw a worker crash.
class ExpectedRows final : public ForwardedEvents {
 public:
  /// `expectations` and `next` must outlive this.
  ExpectedRows(const Expectations& expectations, std::string device_name, RunListener& next);

  void plan(std::span<const RowInfo> rows) override;
  void end(RowIndex row, const RowEnd& end) override;

 private:
  const Expectations& expectations_;
  std::string device_name_;
  std::vector<const Expectation*> rules_;  ///< of each planned row, or null
};

/// The end of a row that a rule matches: EXPECTED_FAIL where it ended in one of the rule's statuses,
/// UNEXPECTED_PASS (without a time) where it passed and the rule expects otherwise, else as it is.
RowEnd as_expected(RowEnd end, const Expectation& rule);

}  // namespace assay::app
