#pragma once

#include <chrono>
#include <string>

namespace assay {

/// Returns the steady clock of the CPU, in seconds.
double steady_seconds();

void sleep_for_seconds(double seconds);

/// Returns ISO 8601 text to the second: "2026-01-02T03:04:05Z".
std::string utc_text(std::chrono::system_clock::time_point when);

/// Measures wall time since construction, on the steady clock.
class Stopwatch {
 public:
  double s() const { return steady_seconds() - start_s_; }
  double ms() const { return s() * 1e3; }

 private:
  double start_s_ = steady_seconds();
};

// Factors between units of time.
inline constexpr double ns_per_us = 1e3;
inline constexpr double ns_per_ms = 1e6;
inline constexpr double ns_per_s = 1e9;
inline constexpr double us_per_ms = 1e3;
inline constexpr double us_per_s = 1e6;
inline constexpr double ms_per_s = 1e3;

}  // namespace assay
