#include "harness/engine/supervision/device_workers.h"

#include "harness/base/clock.h"
#include "harness/report/record/row_end.h"
#include "harness/report/record/run_listener.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace assay {
namespace {

/// The remaining rows are divided into this many parts per worker; a worker takes one part at a time.
constexpr std::size_t parts_a_worker = 4;

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

/// The text of a line that is only for people; nothing for any other line.
std::optional<std::string> log_text_in(std::string_view line) try {
  const std::optional<WorkerEvent> event = decode_worker_event(line);
  const auto* const log = event ? std::get_if<LogEvent>(&*event) : nullptr;
  return log == nullptr ? std::nullopt : std::optional(log->text);
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace

void SharedRows::add(std::span<const RowInfo> plan, const RowsLeft& left, const std::set<RowIndex>& suspected,
                     const std::set<RowIndex>& alone) {
  const RowInfo* last = nullptr;
  for (RowIndex row = 0; row < plan.size(); ++row) {
    if (plan[row].mode != "accu" || !left.wants(row)) continue;
    if (alone.contains(row) || suspected.contains(row)) {
      (alone.contains(row) ? alone_ : suspected_).push_back(row);
      continue;
    }
    if (last == nullptr || last->group != plan[row].group) groups_.emplace_back();
    groups_.back().push_back(row);
    last = &plan[row];
  }
}

std::vector<RowIndex> SharedRows::take() {
  if (!alone_.empty()) return std::exchange(alone_, {});
  if (!suspected_.empty()) return std::exchange(suspected_, {});
  std::vector<RowIndex> rows;
  const std::size_t fair = groups_.size() / (parts_a_worker * workers_);
  for (std::size_t count = std::max<std::size_t>(1, fair); count > 0 && !groups_.empty(); --count) {
    rows.insert(rows.end(), groups_.front().begin(), groups_.front().end());
    groups_.pop_front();
  }
  return rows;
}

void SharedRows::give_back(RowIndex row, const RowEnd& end) {
  groups_.push_back({row});
  given_back_.insert_or_assign(row, end);
}

std::map<RowIndex, std::optional<RowEnd>> SharedRows::take_rest() {
  std::map<RowIndex, std::optional<RowEnd>> rest;
  while (has_rows()) {
    for (const RowIndex row : take()) {
      const auto end = given_back_.find(row);
      rest.emplace(row, end == given_back_.end() ? std::nullopt : std::optional(end->second));
    }
  }
  return rest;
}

/// Merges the events of the supervisors whose workers run in parallel.
class DeviceWorkers::SideBySide final : public ForwardedEvents {
 public:
  explicit SideBySide(DeviceWorkers& owner) : ForwardedEvents(owner.listener_), owner_(owner) {}

  void plan(std::span<const RowInfo> rows) override {
    owner_.take_plan(rows);
    ForwardedEvents::plan(rows);
  }
  void end(RowIndex row, const RowEnd& end) override {
    owner_.alone_.erase(row);
    ForwardedEvents::end(row, end);
  }

 private:
  DeviceWorkers& owner_;
};

DeviceWorkers::DeviceWorkers(std::vector<Worker*> workers, RunListener& listener, DeviceWorkersStart start)
    : workers_(std::move(workers)), listener_(listener), shared_(workers_.size()) {
  if (workers_.size() == 1) {
    side_by_side_.push_back(
        std::make_unique<DeviceSupervisor>(*workers_.front(), listener_, std::move(start.supervision)));
    return;
  }
  left_ = start.supervision.left;
  alone_ = {start.supervision.alone.begin(), start.supervision.alone.end()};
  suspected_ = start.suspected;
  has_untried_ = !start.supervision.untried.empty();
  shared_listener_ = std::make_unique<SideBySide>(*this);
  for (const auto& worker : workers_) {
    SupervisionStart one = start.supervision;
    one.left = {};
    one.untried = {};
    one.open.jobs = start.jobs_side_by_side;
    one.more_rows = [this] { return shared_.take(); };
    one.give_back = [this](RowIndex row, const RowEnd& end) { take_back(row, end); };
    side_by_side_.push_back(std::make_unique<DeviceSupervisor>(*worker, *shared_listener_, std::move(one)));
  }
  last_ = std::make_unique<DeviceSupervisor>(*workers_.front(), listener_, std::move(start.supervision));
}

DeviceWorkers::~DeviceWorkers() = default;

std::vector<DeviceWorkers::Supervised> DeviceWorkers::supervised() const {
  std::vector<Supervised> all;
  for (std::size_t i = 0; i < side_by_side_.size(); ++i) all.push_back({i, side_by_side_[i].get()});
  if (last_) all.push_back({0, last_.get()});
  return all;
}

bool DeviceWorkers::is_over() const {
  return std::ranges::all_of(supervised(), [](const Supervised& one) { return one.supervisor->is_over(); });
}

void DeviceWorkers::take_plan(std::span<const RowInfo> plan) {
  shared_.add(plan, left_, suspected_, alone_);
  std::erase_if(alone_, [&](RowIndex row) {
    return row >= plan.size() || plan[row].mode != "accu" || !left_.wants(row);
  });
  for (RowIndex row = 0; row < plan.size(); ++row) {
    if (plan[row].mode != "accu" && left_.wants(row)) timed_.push_back(row);
  }
}

void DeviceWorkers::take_back(RowIndex row, const RowEnd& end) {
  alone_.erase(row);
  shared_.give_back(row, end);
}

void DeviceWorkers::go_on() {
  if (!last_ || is_last_phase_ || !first().has_plan()) return;
  begin_others();
  if (!is_any_at_work()) begin_again();
  if (is_any_at_work()) return;
  is_last_phase_ = true;
  if (refusal()) return;  // nothing was run, so nothing is recorded
  end_what_nobody_ran();
  begin_last();
}

/// Begins as many workers as there are rows for: each takes some as it opens, which takes a while.
void DeviceWorkers::begin_others() {
  if (!alone_.empty()) return;
  while (begun_ < side_by_side_.size() && shared_.has_rows() && !first().is_stopping()) {
    DeviceSupervisor& next = *side_by_side_[begun_++];
    next.join(first(), {});
    next.begin();
  }
}

bool DeviceWorkers::is_any_at_work() const {
  return std::ranges::any_of(side_by_side_, [](const auto& supervisor) { return !supervisor->is_over(); });
}

/// Begins the workers again that had left before another one was given up and returned its rows. This comes
/// to an end: a worker that is not given up leaves only when no rows remain.
void DeviceWorkers::begin_again() {
  if (refusal() || first().is_stopping() || !shared_.has_rows()) return;
  for (const auto& supervisor : std::span(side_by_side_).first(begun_)) {
    if (supervisor->given_up().empty()) supervisor->begin();
  }
}

/// Why rows are left that no worker ran; empty: the device can run further rows.
std::string DeviceWorkers::why_not_run() const {
  if (first().is_stopping()) return std::string(stopped_because);
  const auto has_begun = std::span(side_by_side_).first(begun_);
  const bool are_all_given_up =
      std::ranges::none_of(has_begun, [](const auto& supervisor) { return supervisor->given_up().empty(); });
  return are_all_given_up ? first().given_up() : "";
}

void DeviceWorkers::end_what_nobody_ran() {
  const std::string why = why_not_run();
  const RowEnd missing{
      .status = Status::Missing, .reason = "not run: " + why, .stopped = why == stopped_because};
  for (const auto& [row, end] : shared_.take_rest()) listener_.end(row, end.value_or(missing));
}

void DeviceWorkers::begin_last() {
  last_->join(first(), timed_);
  if (const std::string why = why_not_run(); !why.empty()) return last_->end_without_running(why);
  if (!timed_.empty() || has_untried_) last_->begin();
}

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

FirstLine first_line(WorkerProcess& process, double seconds, const std::function<bool()>& stop_requested,
                     const std::function<void(const std::string&)>& log) {
  FirstLine first;
  Stopwatch watch;
  while (!first.line && !first.end && watch.s() < seconds && !(stop_requested && stop_requested())) {
    std::vector<pollfd> list;
    process.wait_for(list);
    ::poll(list.data(), list.size(), poll_ms);
    first.end = process.read([&](std::string_view line) {
      if (first.line) return;
      const std::optional<std::string> text = log_text_in(line);
      if (!text) {
        first.line = line;
        return;
      }
      watch = Stopwatch();
      if (log) log(*text);
    });
  }
  return first;
}

}  // namespace assay
