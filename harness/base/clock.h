#pragma once

#include <chrono>
#include <string>

namespace assay {

/// The steady clock of the CPU, in seconds.
double steady_seconds();

void sleep_for_seconds(double seconds);

/// ISO 8601, to the second: "2026-01-02T03:04:05Z".
std::string utc_text(std::chrono::system_clock::time_point when);

/// Wall time since construction, on the steady clock.
class Stopwatch {
 public:
  double s() const { return steady_seconds() - start_s_; }
  double ms() const { return s() * 1e3; }

 private:
  double start_s_ = steady_seconds();
};

}  // namespace assay
