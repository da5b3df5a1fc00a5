#pragma once

#include "harness/report/record/record.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// What two runs of the same programs on one device differed by.
struct RunPair {
  std::string device;      ///< its name
  std::string device_key;  ///< what tells devices apart
  std::string driver;      ///< of both runs
  std::string base_run, new_run;
  std::size_t rows = 0;    ///< judged, of the same program on both sides
  std::size_t alarms = 0;  ///< of them, those that would be SLOWER or FASTER by what each run shows alone
  double largest_pct = 0;  ///< the largest effect of an alarm; 0 without any
};

/// What runs of devices differ by, as kept pairs tell it.
class RunNoise {
 public:
  /// Fewer pairs, or fewer rows in all of them, tell too little.
  static constexpr std::size_t fewest_pairs = 3;
  static constexpr std::size_t fewest_rows = 100;

  RunNoise() = default;
  explicit RunNoise(std::vector<RunPair> pairs) : pairs_(std::move(pairs)) {}

  /// The largest effect of any alarm among the pairs of this device and driver, in percent; absent where
  /// these are too few.
  std::optional<double> between_runs_pct(const RunInfo& run) const;

 private:
  std::vector<RunPair> pairs_;
};

/// A file that keeps pairs: CSV (RFC 4180) with a header.
std::string run_noise_csv(const std::vector<RunPair>& pairs);
/// Throws Error that names `file` and the line of what is no such file.
std::vector<RunPair> parse_run_noise(std::string_view text, const std::string& file);

/// These pairs and the added ones, of which one that is there already takes the other's place.
std::vector<RunPair> with_pairs(std::vector<RunPair> kept, const std::vector<RunPair>& added);

}  // namespace assay
