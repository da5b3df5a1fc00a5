#pragma once

#include "harness/op/ceilings.h"

#include <cstdint>
#include <string>

namespace assay {

/// The time of a program that runs alone, to be compared with its time in batches.
struct Repetition {
  double isolated_us = 0;  ///< the shortest of several runs alone
  double batch_us = 0;     ///< time per program in the batches just before
  int dispatches = 1;      ///< number of timed dispatches
  std::int64_t bytes = 0;  ///< moved by the program
  bool is_cpu = false;
};

/// Whether a program that runs alone takes long enough that its start and end do not matter. Shorter programs
/// are not compared with batches; that their data alternate must suffice.
bool is_long_enough(double isolated_us, int dispatches, const Ceilings& ceilings, double timer_unit_ns);

/// Why the programs are suspected to do less work when repeated, as a sentence with numbers; empty: they are
/// not. A program that runs alone may take half as long again as in a batch (three times as long on a device
/// of type "cpu", which other processes disturb), plus the time to move all its data from and to memory
/// beyond the caches, plus the time to start its dispatches.
std::string faster_when_repeated(const Repetition& found, const Ceilings& ceilings);

}  // namespace assay
