#include "harness/engine/supervision/supervise.h"

#include "harness/base/clock.h"

#include <algorithm>
#include <vector>

namespace assay {
namespace {

/// The longest wait, in ms, for events that no pipe signals: the end of a process whose children hold its
/// pipes open, a stop, a time limit.
constexpr int poll_ms = 50;

void wait_for_something(std::span<const SupervisedDevice> devices) {
  std::vector<pollfd> list;
  for (const SupervisedDevice& device : devices) {
    if (!device.supervisor->is_over()) device.process->wait_for(list);
  }
  ::poll(list.data(), list.size(), poll_ms);
}

void hear(const SupervisedDevice& device, double passed_s) {
  DeviceSupervisor& supervisor = *device.supervisor;
  if (supervisor.is_over()) return;
  const auto end = device.process->read([&](std::string_view line) { supervisor.line(line); });
  if (end) supervisor.ended(*end);
  supervisor.time_passed(passed_s);
}

void let_one_time(std::span<const SupervisedDevice> devices) {
  const auto is_timing = [](const SupervisedDevice& device) { return device.supervisor->is_timing(); };
  if (std::ranges::any_of(devices, is_timing)) return;
  const auto waiting = std::ranges::find_if(
      devices, [](const SupervisedDevice& device) { return device.supervisor->wants_to_time(); });
  if (waiting != devices.end()) waiting->supervisor->may_time();
}

}  // namespace

void supervise(std::span<const SupervisedDevice> devices, const std::function<bool()>& stop_requested,
               const std::function<void()>& heard) {
  const auto is_over = [](const SupervisedDevice& device) { return device.supervisor->is_over(); };
  double before = steady_seconds();
  while (!std::ranges::all_of(devices, is_over)) {
    wait_for_something(devices);
    const double now = steady_seconds();
    for (const SupervisedDevice& device : devices) hear(device, now - before);
    before = now;
    if (heard) heard();
    let_one_time(devices);
    if (!stop_requested || !stop_requested()) continue;
    for (const SupervisedDevice& device : devices) device.supervisor->stop();
  }
}

FirstLine first_line(WorkerProcess& process, double seconds, const std::function<bool()>& stop_requested) {
  FirstLine first;
  const Stopwatch watch;
  while (!first.line && !first.end && watch.s() < seconds && !(stop_requested && stop_requested())) {
    std::vector<pollfd> list;
    process.wait_for(list);
    ::poll(list.data(), list.size(), poll_ms);
    first.end = process.read([&](std::string_view line) {
      if (!first.line) first.line = line;
    });
  }
  return first;
}

}  // namespace assay
