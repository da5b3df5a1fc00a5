#include "harness/app/failure_limit.h"

namespace assay::app {

/// Not what was not reached: that is for want of time, or because of this limit.
void FailureLimit::count(Status status) {
  if (class_of(status) == StatusClass::Failing || status == Status::DeviceLost) ++failed_;
}

void CountedFailures::end(RowIndex row, const RowEnd& end) {
  limit_.count(end.status);
  ForwardedEvents::end(row, end);
}

}  // namespace assay::app
