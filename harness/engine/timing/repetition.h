#pragma once

#include "harness/op/ceilings.h"

#include <cstdint>
#include <string>

namespace assay {

/// One program by itself, held against the programs of batches.
struct Repetition {
  double isolated_us = 0;  ///< the shortest of some that ran by themselves
  double batch_us = 0;     ///< a program's share of batches just before
  int dispatches = 1;      ///< timed ones
  std::int64_t bytes = 0;  ///< that the program moves
  bool is_cpu = false;
};

/// Whether a program by itself takes so long that starting and draining it does not count. Shorter ones are
/// not held against batches: that their data take turns must do.
bool is_long_enough(double isolated_us, int dispatches, const Ceilings& ceilings, double timer_unit_ns);

/// Why programs must be suspected to do less where they are repeated: a sentence with numbers; empty: they
/// need not. A program by itself may take as much longer as it takes to move all its data to and from a
/// memory behind the caches, to start its dispatches, and half as long again as in a batch (on a device of
/// type "cpu", which others disturb, three times as long).
std::string faster_when_repeated(const Repetition& found, const Ceilings& ceilings);

}  // namespace assay
