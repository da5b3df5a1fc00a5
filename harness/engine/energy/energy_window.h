#pragma once

#include "harness/engine/energy/energy_meter.h"
#include "harness/report/record/perf_result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace assay {

/// How long a program runs while its energy is measured, and how often the meter is read.
struct WindowLimits {
  double heating_s = 0.2;  ///< before the window, or EnergyMeter::averaged_s() if that is longer
  double least_s = 1;
  double most_s = 5;          ///< the window ends with the submission that is running then
  int least_readings = 50;    ///< of power
  int least_changes = 10;     ///< of a counter: the window ends before `most_s` only after so many
  double interval_s = 0.018;  ///< from one reading of power to the next
  double counter_interval_s = 0.005;
};

/// What a window usually takes, with the time before and after it.
inline constexpr double usual_energy_window_s = 2;

struct MeterReading {
  double at_s = 0;  ///< since the window began
  double value = 0;
};

/// The result of a window: an energy, or why there is none, or that a stop ended it before.
struct WindowResult {
  std::optional<Energy> energy;
  std::string why_not;
  bool is_stopped = false;
};

/// Runs programs back to back, and reads the meter in another thread meanwhile. `run_programs` submits some,
/// waits for them and returns their number; what it throws is passed on. `is_stopped`: true ends the window
/// without a result, unless it has ended already.
WindowResult measure_energy(EnergyMeter& meter, const std::function<std::int64_t()>& run_programs,
                            const std::function<bool()>& is_stopped, const WindowLimits& limits = {});

/// The programs of one submission of a window: enough of `program_us` each that the time between two
/// submissions hardly counts, but not so many that the host records them for long. Of a row that rotates over
/// `sets` sets of tensors they are whole rounds, which can be submitted again as they were recorded, unless a
/// round takes longer than watchdogs allow.
int programs_in_submission(double program_us, int sets);

/// Mean power in watts. Of readings of power it is their mean, for which there must be `least` of them. A
/// counter moves in steps: its power is the rise from the first step to the last one, over the time between
/// them, so that it does not matter how often the device updates it. There must be two steps.
/// Throws Error if the readings do not suffice.
double mean_watts(EnergyMeter::Kind kind, std::span<const MeterReading> readings, int least);

/// The number of readings at which a counter had changed since the one before.
int changes_in(std::span<const MeterReading> readings);

}  // namespace assay
