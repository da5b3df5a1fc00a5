#pragma once

namespace assay::app {

/// When the reports of a run are written anew while it goes on. A rewrite takes time in proportion to all
/// planned rows, so it is due once the run has gone on for twenty times as long as the last one took: all
/// rewrites together take a twentieth of the run's time, whatever its number of rows, and reports are at most
/// that old. Times are in seconds, of any clock.
class RewriteSchedule {
 public:
  /// Whether it is time for a rewrite; the first is due at once.
  bool is_due(double now_s) const { return now_s >= next_s_; }
  void rewrote(double began_s, double ended_s);

 private:
  double next_s_ = 0;
};

}  // namespace assay::app
