#pragma once

#include "harness/report/compare/row_side.h"
#include "harness/report/compare/verdict.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct MachineShift;

/// CompareOptions::between_runs_pct for a device whose run noise is unknown.
inline constexpr double unknown_between_runs_pct = 3;

struct CompareOptions {
  bool judge_same_programs =
      false;                  ///< rows of the same program may be FASTER or SLOWER instead of ENVIRONMENT
  bool allow_tuning = false;  ///< rows with other defaults of a tuning file are compared
  bool cross_device = false;  ///< the sides have different devices: speed gets no verdict
  double smallest_effect_pct = 1;  ///< differences up to this one never count
  /// How much two runs of one program may differ on the device, which the blocks of one run do not show:
  /// differences up to this do not count if a side has only one run.
  double between_runs_pct = unknown_between_runs_pct;
  bool keep_conditions = true;  ///< keep RowVerdict::conditions, which take much memory for a large run
};

/// If clock probes differ by more than this factor, the device was not in the same state.
inline constexpr double clock_limit = 1.1;
/// A difference of more than this multiple of the clock probes' is not explained by clocks.
inline constexpr double clock_explained_times = 2;
inline constexpr double drift_limit = 0.1;  ///< largest growth of err_over_bound that is not a drift

/// One condition that was evaluated for a verdict.
struct Condition {
  std::string name;     ///< "separation"
  std::string finding;  ///< what was found, with numbers
};

/// The comparison's result for one row.
struct RowVerdict {
  RowInfo info;
  std::string device;
  std::string device_key;  ///< identifies the device; the new side's if there are two, like `device`
  /// Absent: nothing to judge. Neither side has a result, or speed was compared between two devices.
  std::optional<Verdict> verdict;
  std::string reason;  ///< a sentence with numbers; empty for SAME rows of mode accu
  std::string brief;   ///< the reason in few words, if the figures next to it say the rest; else empty
  std::optional<RowSide> base, next;
  double ratio = 0;       ///< new side's time / base's; 0: one has no time, or they are not comparable
  double peak_ratio = 0;  ///< new side's pct_peak / base's
  /// The shift of the machine that was taken out of the row's times; 0: none. `ratio` has it in.
  double machine_ratio = 0;
  double net_ratio = 0;              ///< ratio / machine_ratio; 0: none was taken out
  double net_low = 0, net_high = 0;  ///< its interval: of the row's two times, and of the unchanged rows
  double effect_pct = 0;  ///< how much longer the longer of the two times is, without the machine's shift
  double needed_pct = 0;  ///< smallest effect that counts; 0: speed was not judged
  /// The blocks separate completely, by more than the row needs; with two devices, by more than the noise
  /// between runs of one.
  bool is_significant = false;
  /// The part of CompareOptions::between_runs_pct that counted; 0: none, as both sides have several runs.
  double between_runs_pct = 0;
  /// Both sides ran one program with one driver and were judged: a difference is one between runs.
  bool is_same_program = false;
  /// For such a row, the effect that would count as a change of the program if run noise were ignored; 0:
  /// none.
  double run_noise_pct = 0;
  double chance = 0;  ///< probability that exchangeable blocks separate completely; 0: speed was not judged
  std::vector<Condition> conditions;  ///< in the order of evaluation: the last one decided
};

/// Judges one row; at least one side must be given. `machine` is the shift of its device, null: unknown. A
/// row of another program is judged against a shift that was measured, and AMBIGUOUS with one that is
/// suspected.
RowVerdict row_verdict(std::optional<RowSide> base, std::optional<RowSide> next,
                       const CompareOptions& options, const MachineShift* machine = nullptr);

/// 2 / C(base + next, base): the probability that in a random order of these blocks all of one side come
/// before all of the other's.
double chance_of_separation(std::size_t base_blocks, std::size_t next_blocks);

}  // namespace assay
