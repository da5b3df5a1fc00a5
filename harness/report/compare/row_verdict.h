#pragma once

#include "harness/report/compare/row_side.h"
#include "harness/report/compare/verdict.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// CompareOptions::between_runs_pct of a device of which nothing is known.
inline constexpr double unknown_between_runs_pct = 3;

struct CompareOptions {
  bool judge_same_programs = false;  ///< no ENVIRONMENT: rows of the same program are FASTER or SLOWER too
  bool cross_device = false;         ///< the sides are of different devices: speed has no verdict
  double smallest_effect_pct = 1;    ///< differences up to this one never count
  /// What two runs of one program may differ by on the device, which the blocks of one run do not show:
  /// differences up to this one do not count where a side has one run alone.
  double between_runs_pct = unknown_between_runs_pct;
  bool keep_conditions = true;  ///< RowVerdict::conditions, which of a large run take much memory
};

inline constexpr std::size_t fewest_blocks = 5;  ///< on each side, to judge speed
/// A row that needs more than this to show a difference is never called the same.
inline constexpr double coarsest_pct = 10;
/// Clock probes that differ by more than this say that the device was not in the same state.
inline constexpr double clock_limit = 1.1;
/// ... but a difference of so many times the clock probes' is no matter of clocks.
inline constexpr double clock_explained_times = 2;
inline constexpr double drift_limit = 0.1;  ///< growth of err_over_bound that is no drift yet

/// One thing that was looked at on the way to a verdict.
struct Condition {
  std::string name;     ///< "separation"
  std::string finding;  ///< what was found, with numbers
};

/// What is said of one row.
struct RowVerdict {
  RowInfo info;
  std::string device;
  std::string device_key;  ///< what tells devices apart; of two devices the new side's, as `device` is
  /// Absent: nothing to judge. Neither side has a result, or speed was compared between two devices.
  std::optional<Verdict> verdict;
  std::string reason;  ///< a sentence with numbers; empty for SAME rows of mode accu
  std::string brief;   ///< the same in few words, where the figures beside it say the rest; else empty
  std::optional<RowSide> base, next;
  double ratio = 0;  ///< time of the new side over the base's; 0: one has none, or they are not comparable
  double peak_ratio = 0;  ///< the same of pct_peak
  double effect_pct = 0;  ///< how much the longer of the two times is longer
  double needed_pct = 0;  ///< effect that would count; 0: speed was not judged
  /// The blocks separate completely, by more than the row needs; of two devices, by more than two runs of one
  /// may differ by.
  bool is_significant = false;
  /// What counted of CompareOptions::between_runs_pct; 0: nothing, both sides have several runs.
  double between_runs_pct = 0;
  /// Judged on both sides, of one program with one driver: what differs is between the runs.
  bool is_same_program = false;
  /// Of such a row: the effect that would be taken for another program's, were nothing known of what runs
  /// differ by; 0: it would not.
  double run_noise_pct = 0;
  double chance = 0;                  ///< that blocks which may be exchanged separate completely; 0: likewise
  std::vector<Condition> conditions;  ///< in the order they were looked at: the last decided
};

/// Judges one row; at least one side is there.
RowVerdict row_verdict(std::optional<RowSide> base, std::optional<RowSide> next,
                       const CompareOptions& options);

/// 2 / C(base + next, base): that of so many blocks in random order all of one side come before all of the
/// other's.
double chance_of_separation(std::size_t base_blocks, std::size_t next_blocks);

}  // namespace assay
