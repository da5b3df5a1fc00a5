#include "harness/engine/ceilings/best_reading.h"

namespace assay::ceiling {
namespace {

std::optional<Reading> best_of_one_try(const ReadingSource& source, ClockWatch& clock,
                                       const Patience& patience, double batch) {
  std::optional<Reading> best;
  double spent_ns = 0;
  int counted = 0;
  const double began_s = source.now_s();
  while (counted < patience.repetitions && spent_ns < patience.most_ns) {
    const Reading reading = source.read();
    clock.hear(reading.probe_ns);
    if (clock.is_down(reading.probe_ns)) {
      if (source.now_s() - began_s > patience.heating_s) break;
      continue;
    }
    ++counted;
    spent_ns += reading.ns * batch;
    if (!best || reading.ns < best->ns) best = reading;
  }
  return best;
}

}  // namespace

std::optional<Reading> best_reading(const ReadingSource& source, ClockWatch& clock, const Patience& patience,
                                    double batch) {
  if (auto best = best_of_one_try(source, clock, patience, batch)) return best;
  source.rest_s(patience.rest_s);
  return best_of_one_try(source, clock, patience, batch);
}

}  // namespace assay::ceiling
