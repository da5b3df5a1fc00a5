#include "harness/engine/energy/energy_window.h"

#include "harness/base/clock.h"
#include "harness/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace assay {
namespace {

/// Reads a meter again and again in a thread of its own, until it is stopped or a reading fails.
class MeterThread {
 public:
  MeterThread(EnergyMeter& meter, double interval_s)
      : meter_(&meter),
        interval_s_(interval_s),
        thread_([this](const std::stop_token& stop) { read_until(stop); }) {}

  struct State {
    std::vector<MeterReading> readings;
    std::string failure;  ///< empty: none
  };
  State so_far() {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  /// Returns after the reading that is being taken.
  void stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void read_until(const std::stop_token& stop) try {
    while (!stop.stop_requested()) {
      // The time before the reading: a meter that waits for its device tells the state at the latest then.
      const double at_s = watch_.s();
      const double value = meter_->read();
      std::unique_lock lock(mutex_);
      state_.readings.push_back({at_s, value});
      woken_.wait_for(lock, stop, std::chrono::duration<double>(interval_s_), [] { return false; });
    }
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    state_.failure = error.what();
  }

  EnergyMeter* meter_;
  double interval_s_;
  Stopwatch watch_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  State state_;
  std::jthread thread_;  ///< last: it uses the others
};

/// Without the readings that were taken after the window.
std::vector<MeterReading> within(std::vector<MeterReading> readings, double window_s) {
  std::erase_if(readings, [&](const MeterReading& reading) { return reading.at_s > window_s; });
  return readings;
}

bool is_enough(EnergyMeter::Kind kind, std::span<const MeterReading> readings, const WindowLimits& limits) {
  if (kind == EnergyMeter::Kind::Counter) return changes_in(readings) >= limits.least_changes;
  return readings.size() >= static_cast<std::size_t>(limits.least_readings);
}

WindowResult result_of(const EnergyMeter& meter, MeterThread::State found, double window_s,
                       std::int64_t programs, const WindowLimits& limits) try {
  if (!found.failure.empty()) throw Error(found.failure);
  found.readings = within(std::move(found.readings), window_s);
  const double watts = mean_watts(meter.kind(), found.readings, limits.least_readings);
  if (!(watts > 0)) throw Error("the mean power in the window is 0 W");
  const bool is_counter = meter.kind() == EnergyMeter::Kind::Counter;
  return {.energy = Energy{.source = meter.source(),
                           .joules = watts * window_s / static_cast<double>(programs),
                           .watts = watts,
                           .window_s = window_s,
                           .programs = programs,
                           .readings = is_counter ? changes_in(found.readings) + 1
                                                  : static_cast<int>(found.readings.size())},
          .why_not = ""};
} catch (const Error& error) {
  return {.energy = std::nullopt, .why_not = error.what()};
}

}  // namespace

int changes_in(std::span<const MeterReading> readings) {
  int changes = 0;
  for (std::size_t i = 1; i < readings.size(); ++i) changes += readings[i].value != readings[i - 1].value;
  return changes;
}

int programs_in_submission(double program_us, int sets) {
  constexpr double wanted_us = 20e3;  // a submission costs tens of microseconds
  constexpr double most_us = 500e3;   // a quarter of what watchdogs allow
  constexpr double most_programs = 8192;
  const int programs = static_cast<int>(std::clamp(wanted_us / program_us, 1.0, most_programs));
  const int in_rounds = std::max(programs / sets, 1) * sets;
  return in_rounds * program_us <= most_us ? in_rounds : programs;
}

double mean_watts(EnergyMeter::Kind kind, std::span<const MeterReading> readings, int least) {
  if (kind == EnergyMeter::Kind::Power) {
    if (readings.size() < static_cast<std::size_t>(std::max(least, 1))) {
      throw Error(fmt::format("the window had {} readings of power, and a mean needs {}", readings.size(),
                              std::max(least, 1)));
    }
    double sum = 0;
    for (const MeterReading& reading : readings) sum += reading.value;
    return sum / static_cast<double>(readings.size());
  }
  const MeterReading* first = nullptr;
  const MeterReading* last = nullptr;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    if (readings[i].value == readings[i - 1].value) continue;
    if (first == nullptr) first = &readings[i];
    last = &readings[i];
  }
  if (first == last) throw Error("the counter of energy rose fewer than two times in the window");
  if (last->value < first->value)
    throw Error(fmt::format("the counter of energy fell from {} to {} J", first->value, last->value));
  return (last->value - first->value) / (last->at_s - first->at_s);
}

WindowResult measure_energy(EnergyMeter& meter, const std::function<std::int64_t()>& run_programs,
                            const std::function<bool()>& is_stopped, const WindowLimits& limits) {
  const auto stopped = [&] { return is_stopped && is_stopped(); };
  const Stopwatch heating;
  const double heating_s = std::max(limits.heating_s, meter.averaged_s());
  while (heating.s() < heating_s && !stopped()) run_programs();
  const bool is_counter = meter.kind() == EnergyMeter::Kind::Counter;
  MeterThread thread(meter, is_counter ? limits.counter_interval_s : limits.interval_s);
  const Stopwatch window;
  std::int64_t programs = 0;
  double window_s = 0;
  bool goes_on = true;
  while (goes_on && !stopped()) {
    programs += run_programs();
    window_s = window.s();
    if (window_s < limits.least_s) continue;
    MeterThread::State found = thread.so_far();
    goes_on = window_s < limits.most_s && found.failure.empty() &&
              !is_enough(meter.kind(), within(std::move(found.readings), window_s), limits);
  }
  if (goes_on) return {.energy = std::nullopt, .why_not = "", .is_stopped = true};
  thread.stop();
  return result_of(meter, thread.so_far(), window_s, programs, limits);
}

}  // namespace assay
