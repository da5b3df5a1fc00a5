#pragma once

#include "harness/device/device_info.h"
#include "harness/report/compare/row_side.h"
#include "harness/report/record/run_info.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// A ceiling that two runs measured differently.
struct CeilingChange {
  std::string what;         ///< "ceiling bandwidth"
  std::string before, now;  ///< "2861 GB/s", or "not measured"
  double percent = 0;       ///< change relative to `before`; 0: one of the two was not measured
  /// How much longer work that this ceiling limits takes now; 0: unknown, or it limits none (dispatch
  /// spacing).
  double time_ratio = 0;
};

/// The ceilings that differ by more than this share of the larger one (0.05: 5 %), or that only one run has.
std::vector<CeilingChange> ceiling_changes(const Ceilings& before, const Ceilings& now, double share);
/// The same for the medians over several runs on a side; there is at least one.
std::vector<CeilingChange> ceiling_changes(std::span<const Ceilings* const> before,
                                           std::span<const Ceilings* const> now, double share);

/// The fewest unchanged rows that are an estimate: of five values the smallest and the largest enclose the
/// median of all such rows with 93.75 % probability, of four with less.
inline constexpr std::size_t fewest_unchanged_rows = 5;
/// Without that many, a ceiling or the clock probe that moved by more than this makes rows AMBIGUOUS.
inline constexpr double moved_pct = 3;
/// A larger shift is a finding of a night by itself.
inline constexpr double shift_finding_pct = 5;

/// What is known about a shift of the machine between the two sides.
enum class ShiftEvidence : std::uint8_t {
  None,       ///< no sign of a shift: times are judged as measured
  Measured,   ///< unchanged rows show it: the other rows are judged against it
  Suspected,  ///< too few rows are unchanged, and a ceiling or the clock probe moved: rows are AMBIGUOUS
};
std::string_view name_of(ShiftEvidence evidence);  ///< "none", "measured", "suspected"

/// How much slower one device was on the new side, whatever ran on it: load, clocks, memory.
struct MachineShift {
  std::string device;      ///< name of the device
  std::string device_key;  ///< identifies the device
  ShiftEvidence evidence = ShiftEvidence::None;
  std::size_t unchanged_rows = 0;  ///< timed on both sides with the same program and driver
  /// Time on the new side / time on the base side: the median of the unchanged rows, or 1 / the change of the
  /// ceiling that moved most. 1: unknown.
  double ratio = 1;
  /// Between these are the middle 95 % of the unchanged rows' ratios: below 80 rows all but one on either
  /// side, below 8 all of them.
  double low = 1, high = 1;
  /// By the clock probe: the base's clock / the new side's, median of the unchanged rows. 1: unknown.
  double clock_ratio = 1;
  std::vector<CeilingChange> moved;  ///< what makes it Suspected
  bool is_ignored = false;           ///< times are judged as measured all the same, as asked

  /// How much longer the longer of the two times is, in percent.
  double pct() const;
  /// How far an unchanged row may be from `ratio`, in percent.
  double width_pct() const;
  /// Whether it is large enough to be a finding by itself.
  bool is_finding() const;
};

/// What two sides know about one device.
struct MachineEvidence {
  std::vector<std::pair<const RowSide*, const RowSide*>> rows;  ///< that both sides have
  std::vector<const RunInfo*> base, next;                       ///< the runs of each side
};

/// Estimates the shift. One that unchanged rows show has to be larger than `least_pct`, and the interval of
/// their median must not contain 1.
MachineShift machine_shift(const MachineEvidence& evidence, double least_pct);

/// "the machine was 2.00x slower: 5 unchanged rows (1.97x to 2.04x)". Empty: no sign of a shift.
std::string shift_text(const MachineShift& shift);

/// "the machine was 2.00x slower: 5 unchanged rows", for a headline.
std::string shift_brief(const MachineShift& shift);

/// "1.13x"
std::string times_text(double ratio);
/// "1.13x slower"; of a ratio below 1, "1.13x faster".
std::string times_slower(double ratio);

}  // namespace assay
