#pragma once

#include "harness/report/trend/nights.h"

#include <cstddef>
#include <string>
#include <vector>

namespace assay {

/// A shift of the machine is taken out if it is larger than this, as of two runs whose noise is unknown.
inline constexpr double least_shift_pct = 3;

/// How fast the machine itself was in one night of a track.
struct MachineLevel {
  double ratio = 1;  ///< time of unchanged rows / their time in most nights; 1: as usual, or unknown
  std::size_t rows =
      0;  ///< unchanged rows since the nearest night before that has enough of them; 0: none has
};

/// The machine's level in each night of a track, by the rows that ran the same program with the same driver
/// in two nights, as `assay compare` estimates it: at least five such rows, whose median moved clearly and by
/// more than least_shift_pct. Nights without such rows have the level of the night before.
std::vector<MachineLevel> machine_levels(const NightSummaries& nights, const Track& track);

/// The nights in which the machine was not as usual: "2026-11-21 to 2026-11-23: 2.00x slower (812 unchanged
/// rows)".
std::vector<std::string> machine_shift_lines(const NightSummaries& nights, const Track& track,
                                             const std::vector<MachineLevel>& levels);

}  // namespace assay
