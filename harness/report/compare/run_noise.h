#pragma once

#include "harness/report/record/run_info.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The difference between two runs of the same programs on one device.
struct RunPair {
  std::string device;      ///< name of the device
  std::string device_key;  ///< identifies the device
  std::string driver;      ///< driver of both runs
  std::string base_run, new_run;
  std::size_t rows = 0;    ///< judged rows with the same program on both sides
  std::size_t alarms = 0;  ///< rows among them that would be SLOWER or FASTER if run noise were ignored
  double largest_pct = 0;  ///< largest effect of an alarm; 0: there was no alarm
};

/// The noise between runs of devices, from recorded pairs of runs.
class RunNoise {
 public:
  /// Fewer pairs, or fewer rows in all of them, are not enough.
  static constexpr std::size_t fewest_pairs = 3;
  static constexpr std::size_t fewest_rows = 100;

  RunNoise() = default;
  explicit RunNoise(std::vector<RunPair> pairs) : pairs_(std::move(pairs)) {}

  /// The largest effect of any alarm among the pairs of this device and driver, in percent; absent if there
  /// are too few pairs.
  std::optional<double> between_runs_pct(const RunInfo& run) const;

 private:
  std::vector<RunPair> pairs_;
};

/// The pairs as a file: CSV (RFC 4180) with a header.
std::string run_noise_csv(const std::vector<RunPair>& pairs);
/// Parses such a file. Throws Error that names `file` and the line of what is wrong.
std::vector<RunPair> parse_run_noise(std::string_view text, const std::string& file);

/// The kept pairs and the added ones; an added pair replaces a kept one of the same runs.
std::vector<RunPair> with_pairs(std::vector<RunPair> kept, const std::vector<RunPair>& added);

/// The pairs in a file that `assay compare --keep-run-noise` wrote. Throws Error(Usage) if it cannot be read.
std::vector<RunPair> pairs_in(const std::filesystem::path& file);

/// The run noise in such a file; none for an empty path.
RunNoise read_run_noise(const std::filesystem::path& file);

}  // namespace assay
