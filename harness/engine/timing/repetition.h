#pragma once

#include "harness/device/device_info.h"

#include <cstdint>
#include <span>
#include <string>

namespace assay {

/// The time of a program that runs alone, to be compared with its time in batches. Both are means of several
/// runs: a program that skips its work in some runs only would hide from a median.
struct Repetition {
  double isolated_us = 0;  ///< of a program that runs alone
  double batch_us = 0;     ///< per program in the batches just before
  int dispatches = 1;      ///< number of timed dispatches
  std::int64_t bytes = 0;  ///< moved by the program
  bool is_cpu = false;
};

/// From the times of programs that ran alone and the times per program of batches, in ns.
Repetition repetition_of(std::span<const double> isolated_ns, std::span<const double> batches_ns);

/// Whether a program that runs alone takes long enough that its start and end do not matter. Shorter programs
/// are not compared with batches; that their data alternate must suffice.
bool is_long_enough(double isolated_us, int dispatches, const Ceilings& ceilings, double timer_unit_ns);

/// Why the programs are suspected to do less work when repeated, as a sentence with numbers; empty: they are
/// not. A program that runs alone may take half as long again as in a batch (three times as long on a device
/// of type "cpu", which other processes disturb), plus the time to move all its data from and to memory
/// beyond the caches, plus the time to start its dispatches.
std::string faster_when_repeated(const Repetition& found, const Ceilings& ceilings);

/// The times of a row's programs in batches that all have the same data.
struct DataTimes {
  double own_us = 0;     ///< mean on the row's own data, which a shader may know by heart
  double secret_us = 0;  ///< the fastest batch on data of the secret seed
  bool is_cpu = false;
};

/// From the times per program of batches on either data, in ns; at least one of each. Nobody knows secret
/// data, so every batch on it takes the whole time, the fastest one too, whereas other processes disturb only
/// some.
DataTimes data_times_of(std::span<const double> own_ns, std::span<const double> secret_ns);

/// Why the programs are suspected to do less work on data that they know, as a sentence with numbers; empty:
/// they are not. They may take a quarter longer on the secret data (on a device of type "cpu", which other
/// processes disturb, twice as long).
std::string faster_on_known_data(const DataTimes& found);

}  // namespace assay
