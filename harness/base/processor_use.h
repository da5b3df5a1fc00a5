#pragma once

namespace assay {

/// What the machine's processors do from its construction on, told by the system in /proc/stat.
class ProcessorUse {
 public:
  ProcessorUse();

  /// The share of all processors' time that other processes than this one used, from 0 to 1; 0 where the
  /// system does not tell, or in so short a time that it does not count it (10 ms).
  double by_others() const;

 private:
  /// In seconds, summed over processors.
  struct Times {
    double busy = 0;
    double idle = 0;
    double own = 0;
  };
  static Times now();

  Times start_;
};

}  // namespace assay
