#pragma once

#include "harness/cases/case.h"
#include "harness/cases/tuning/tuning.h"
#include "harness/device/device_info.h"

#include <deque>
#include <span>
#include <vector>

namespace assay {

/// Cases as one device with a tuning file runs them. Those that an entry is about are copies with
/// `Case::tuned`; the others are the given cases, which must outlive this object, as must the ops.
///
/// An entry's values are defaults: a tunable that the case sets itself keeps the case's value. Which impl
/// `auto` chooses does not depend on the file. An entry counts only where the impl can run with its values;
/// elsewhere in its ranges the built-in defaults do, as an entry was measured at some of its points alone.
class TunedCases {
 public:
  /// `tuning` may be null: no case is tuned. The cases' CONV2D is resolved (DeviceCases).
  TunedCases(std::span<const Case* const> cases, const DeviceInfo& device, const Tuning* tuning);
  TunedCases(const TunedCases&) = delete;
  TunedCases& operator=(const TunedCases&) = delete;

  /// The cases in the given order.
  std::span<const Case* const> all() const { return all_; }

 private:
  std::deque<Case> tuned_;
  std::vector<const Case*> all_;
};

}  // namespace assay
