#pragma once

#include "harness/cases/case.h"
#include "harness/cases/tuning/tuning.h"
#include "harness/device/device_info.h"
#include "harness/engine/run/planned_rows.h"

#include <deque>
#include <vector>

namespace assay {

/// The rows of a run as one device with a tuning file runs them. The cases of timed rows that an entry is
/// about are copies with `Case::tuned`; all other rows have the given cases, which must outlive this object,
/// as must the ops. Accuracy rows always have the built-in defaults: a tuning file changes times alone, and
/// timed rows judge their own outputs.
///
/// An entry's values are defaults: an entry is not for a case that sets one of its tunables itself. Which
/// impl `auto` chooses does not depend on the file. An entry counts only where the impl can run with its
/// values; elsewhere in its ranges the built-in defaults do, as an entry was measured at some of its points
/// alone.
class TunedRows {
 public:
  /// `tuning` may be null: no row is tuned. The cases' CONV2D is resolved (DeviceCases).
  TunedRows(std::vector<PlannedGroup> groups, const DeviceInfo& device, const Tuning* tuning);
  TunedRows(const TunedRows&) = delete;
  TunedRows& operator=(const TunedRows&) = delete;

  /// The rows in the given order.
  const std::vector<PlannedGroup>& groups() const { return groups_; }

 private:
  std::deque<Case> tuned_;
  std::vector<PlannedGroup> groups_;
};

}  // namespace assay
