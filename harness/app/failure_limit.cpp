#include "harness/app/failure_limit.h"

namespace assay::app {

/// Rows that were not reached do not count: time was up, or this limit was reached.
void FailureLimit::count(Status status) {
  if (class_of(status) == StatusClass::Failing || status == Status::DeviceLost) ++failed_;
}

void CountedFailures::end(RowIndex row, const RowEnd& end) {
  limit_.count(end.status);
  ForwardedEvents::end(row, end);
}

}  // namespace assay::app
