#pragma once

#include "harness/report/record/forwarded_events.h"

#include <atomic>
#include <cstddef>

namespace assay::app {

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
