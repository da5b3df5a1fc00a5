#pragma once

#include <cstddef>
#include <vector>

namespace assay {

/// What clock probes have told of a device's clock: a clock probe is a fixed piece of work that runs beside
/// the samples, so that its time changes with the clock and with nothing else. One for a device, shared by
/// all that sample on it.
class ClockWatch {
 public:
  /// Clock probes that differ by less than `least_tolerance` always count as at one clock. A CPU that does
  /// other work beside needs more than the 3 % of a GPU.
  explicit ClockWatch(double least_tolerance = 0.03) : least_tolerance_(least_tolerance) {}

  /// A clock probe's time in ns. What is not positive tells nothing.
  void hear(double probe_ns);

  /// The clock probe's time at the best clock that was seen to last (the smallest median of a few in a row);
  /// 0: not known yet.
  double full_clock_ns() const { return full_clock_ns_; }

  /// Whether a clock probe that took this long ran at a lower clock than full, or than `accepted_ns` where
  /// that is more: beyond what clock probes differ by at one clock. False while nothing is known.
  bool is_down(double probe_ns, double accepted_ns = 0) const;

 private:
  double least_tolerance_;
  std::vector<double> newest_;  ///< the last few, oldest first
  double full_clock_ns_ = 0;
  double tolerance_ = 0;
};

}  // namespace assay
