#pragma once

namespace assay {

/// Measures from its construction on how busy the machine's processors are, from /proc/stat.
class ProcessorUse {
 public:
  ProcessorUse();

  /// Returns the share of all processors' time that other processes used, from 0 to 1; 0 if the system does
  /// not report it, or if less time has passed than it counts (10 ms).
  double by_others() const;

 private:
  /// Times in seconds, summed over processors.
  struct Times {
    double busy = 0;
    double idle = 0;
    double own = 0;
  };
  static Times now();

  Times start_;
};

}  // namespace assay
