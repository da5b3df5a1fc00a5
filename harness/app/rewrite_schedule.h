#pragma once

namespace assay::app {

/// Decides when the reports of a run are rewritten during the run. The time of a rewrite is proportional to
/// the number of planned rows, so the next one is due after twenty times the last one's time: all rewrites
/// together take a twentieth of the run's time, whatever its number of rows, and reports are at most that
/// old. Times are in seconds of any clock.
class RewriteSchedule {
 public:
  /// Whether a rewrite is due; the first one is due immediately.
  bool is_due(double now_s) const { return now_s >= next_s_; }
  void rewrote(double began_s, double ended_s);

 private:
  double next_s_ = 0;
};

}  // namespace assay::app
