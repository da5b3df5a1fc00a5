#pragma once

// Series of samples whose truth is known. Only tests include this.

#include "harness/base/statistics.h"
#include "harness/tensor/fill/fill.h"
#include "harness/tensor/fill/random_bits.h"
#include "tests/support/records.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace assay::test {

/// Blocks of samples, as PerfResult::sample_us.
using Series = std::vector<std::vector<double>>;

/// Random numbers: equal in every run of a test, different for every stream.
class Noise {
 public:
  explicit Noise(std::uint32_t stream) : stream_(stream) {}

  /// Between 0 and 1.
  double uniform() {
    const std::uint32_t word = philox4x32({count_++, 0, 0, 0}, {stream_, 0x5eed})[0];
    return (word + 0.5) / 4294967296.0;
  }
  /// Mean 0, deviation 1: twelve uniforms, cut off at 6.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  std::uint32_t stream_;
  std::uint32_t count_ = 0;
};

/// How a device behaves that takes `us` for a program.
struct Behaviour {
  double us = 100;
  int blocks = 6;
  int samples = 10;         ///< in a block
  double sample_pct = 0.5;  ///< deviation of samples within a block
  double block_pct = 0.1;   ///< deviation of what a block's samples share
  double drift_pct = 0;     ///< the last block is so much slower than the first
  double mode_pct = 0;      ///< a slow mode is so much slower ...
  double mode_share = 0;    ///< ... and so many blocks are in it
};

inline Series simulate(const Behaviour& behaviour, Noise& noise) {
  Series series;
  for (int b = 0; b < behaviour.blocks; ++b) {
    double us = behaviour.us * (1 + behaviour.block_pct / 100 * noise.normal());
    us *= 1 + behaviour.drift_pct / 100 * b / (behaviour.blocks - 1);
    if (noise.uniform() < behaviour.mode_share) us *= 1 + behaviour.mode_pct / 100;
    std::vector<double>& block = series.emplace_back();
    for (int s = 0; s < behaviour.samples; ++s)
      block.push_back(us * (1 + behaviour.sample_pct / 100 * noise.normal()));
  }
  return series;
}

/// One sample a block.
inline Series blocks(const std::vector<double>& medians) {
  Series series;
  for (const double us : medians) series.push_back({us});
  return series;
}

/// A row of mode perf with these samples, its figures in agreement with them. Every call is another program.
inline Record measured(const std::string& name, Series series) {
  static int programs = 0;
  Record record = timed(name, "fused", 1);
  PerfResult& perf = *record.perf;
  std::vector<double> all;
  for (const auto& block : series) all.insert(all.end(), block.begin(), block.end());
  if (!all.empty()) {
    const Summary summary = summarize(all);
    perf.time_us_min = summary.min;
    perf.time_us_p25 = summary.p25;
    perf.time_us_p50 = summary.p50;
    perf.time_us_p75 = summary.p75;
    perf.time_us_mean = summary.mean;
    perf.time_us_stdev = summary.stdev;
  }
  perf.blocks = static_cast<int>(series.size());
  perf.samples = static_cast<int>(all.size());
  perf.batch = 1000;
  perf.program_hash = "program " + std::to_string(++programs);
  perf.sample_us = std::move(series);
  return record;
}

/// A run of these records; runs of different ids may be pooled.
inline RunReport run_of(std::vector<Record> records, const std::string& run_id = "run") {
  RunReport report = report_of(std::move(records));
  report.run.run_id = run_id;
  return report;
}

}  // namespace assay::test
