#pragma once

#include "harness/cases/expectations/expectations.h"
#include "harness/report/record/events.h"

#include <atomic>
#include <cstddef>
#include <map>
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
  void judged(RowIndex row, const AccuracyResult& accuracy) override;
  void end(RowIndex row, const RowEnd& end) override;

 private:
  const Expectations& expectations_;
  std::string device_name_;
  std::vector<const Expectation*> rules_;  ///< one per planned row; null: no rule
  std::map<RowIndex, AccuracyResult>
      judged_;  ///< results of rows that a rule matches and that have not ended
};

/// Counts the failed rows of a run over all its devices, and says whether the limit of --max-failures is
/// reached. Thread-safe.
class FailureLimit {
 public:
  /// `most` 0: no limit.
  explicit FailureLimit(std::size_t most) : most_(most) {}

  void count(Status status);
  bool is_reached() const { return most_ != 0 && failed_ >= most_; }
  std::size_t most() const { return most_; }

 private:
  std::size_t most_;
  std::atomic<std::size_t> failed_ = 0;
};

/// Passes every event on to another listener, and counts the rows that fail. Both must outlive this.
class CountedFailures final : public ForwardedEvents {
 public:
  CountedFailures(FailureLimit& limit, RunListener& next) : ForwardedEvents(next), limit_(limit) {}

  void end(RowIndex row, const RowEnd& end) override;

 private:
  FailureLimit& limit_;
};

}  // namespace assay::app
