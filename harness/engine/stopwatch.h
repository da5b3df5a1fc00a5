#pragma once

#include <chrono>

namespace assay {

/// Wall time since construction, on the steady clock.
class Stopwatch {
 public:
  double s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  double ms() const { return s() * 1e3; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace assay
