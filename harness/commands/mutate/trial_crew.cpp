#include "harness/commands/mutate/trial_crew.h"

#include "harness/base/error.h"
#include "harness/base/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace assay::app {
namespace {

constexpr std::size_t most_errors = 2000;

/// Whether there was something; reading never blocks.
bool read_some(int from, std::string& to) {
  std::array<char, 1 << 16> buffer;
  const ssize_t count = ::read(from, buffer.data(), buffer.size());
  if (count <= 0) return false;
  to.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

}  // namespace

TrialProcess::TrialProcess(const std::vector<std::string>& command, const TrialSetup& setup,
                           std::string fingerprint, const Limits& limits)
    : process_(command), fingerprint_(std::move(fingerprint)), limits_(limits) {
  process_.send(line_of(setup));
}

void TrialProcess::begin(const TrialRequest& request) {
  is_busy_ = true;
  now_ = {};
  row_.reset();
  heard_s_ = steady_seconds();
  unsent_ = line_of(request);
  if (is_ready_) send_request();
}

/// A process that does not read is of no use: poll() finds out that it has ended.
void TrialProcess::send_request() {
  if (!unsent_.empty() && !process_.send(unsent_)) process_.kill();
  unsent_.clear();
}

std::optional<TrialOutcome> TrialProcess::poll() {
  if (is_gone_) return std::nullopt;
  const bool has_ended = process_.end().has_value();  // before reading: what it wrote last is read
  read();
  if (auto outcome = take_lines()) return outcome;
  if (is_gone_) return std::nullopt;
  if (has_ended) return ended(false);
  if (is_busy_ && hangs()) return ended(true);
  return std::nullopt;
}

void TrialProcess::read() {
  while (read_some(process_.output(), unread_)) heard_s_ = steady_seconds();
  while (read_some(process_.errors(), errors_)) {
    if (errors_.size() > most_errors) errors_.erase(0, errors_.size() - most_errors);
  }
}

std::optional<TrialOutcome> TrialProcess::take_lines() {
  for (std::size_t end = unread_.find('\n'); end != std::string::npos; end = unread_.find('\n')) {
    const std::string line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    if (auto outcome = take(parse_news(line))) return outcome;
  }
  return std::nullopt;
}

std::optional<TrialOutcome> TrialProcess::take(const TrialNews& news) {
  if (news.ready) {
    is_ready_ = true;
    if (*news.ready != fingerprint_) {
      throw Error("trying faults: a worker process found other rows in the case files; were they changed?",
                  ExitCode::Infrastructure);
    }
    send_request();
  } else if (news.row) {
    row_ = *news.row == no_row ? std::nullopt : news.row;
    if (row_) ++now_.result.rows_ran;
  } else if (news.kill) {
    now_.result.kills.push_back(news.kill->kill);
    now_.killers.push_back(news.kill->row);
  } else if (news.damaged || (news.error && row_)) {
    is_gone_ = true;
    return ended(false);
  } else if (news.error) {
    throw Error(*news.error, news.error_code);
  } else {
    is_busy_ = false;
    has_tried_one_ = true;
    is_gone_ = news.end->retires;
    now_.result = news.end->result;
    return std::exchange(now_, {});
  }
  return std::nullopt;
}

bool TrialProcess::hangs() const {
  return steady_seconds() - heard_s_ > (row_ ? limits_.row_s : limits_.between_s);
}

/// The process has ended, or hangs and is killed.
std::optional<TrialOutcome> TrialProcess::ended(bool is_hanging) {
  const auto how = process_.end();
  process_.kill();
  is_gone_ = true;
  const std::string end = is_hanging ? "hung" : how ? to_string(*how) : "ended";
  if (!is_ready_) {
    throw Error(fmt::format("trying faults: a worker process {} before it was ready: {}", end, errors_),
                ExitCode::Infrastructure);
  }
  if (!is_busy_) return std::nullopt;
  is_busy_ = false;
  now_.is_open = !is_hanging && has_tried_one_;
  if (row_) {
    now_.result.kills.push_back({"", is_hanging ? "TIMEOUT" : "CRASH", ""});
    now_.killers.push_back(*row_);
  }
  now_.result.end = now_.result.end_without_shader();
  if (now_.result.end == FaultEnd::DoesNotCompile)
    now_.result.why = fmt::format("compiling it: the process {}", end);
  return std::exchange(now_, {});
}

TrialCrew::TrialCrew(Parts parts) : parts_(std::move(parts)), places_(parts_.processes) {
  for (std::size_t i = 0; i < places_.size(); ++i) places_[i].number = i;
}

bool TrialCrew::has_room() const {
  return std::ranges::any_of(places_, [](const Place& place) { return !place.fault; });
}

bool TrialCrew::is_idle() const {
  return std::ranges::none_of(places_, [](const Place& place) { return place.fault.has_value(); });
}

void TrialCrew::begin(std::size_t fault, TrialRequest request) {
  // A process that runs already needs no start.
  const auto runs = [](const Place& place) { return place.process && !place.process->is_gone(); };
  auto place = std::ranges::find_if(places_, [&](const Place& one) { return !one.fault && runs(one); });
  if (place == places_.end())
    place = std::ranges::find_if(places_, [](const Place& one) { return !one.fault; });
  place->fault = fault;
  place->request = std::move(request);
  start(*place);
}

/// Begins the place's fault.
void TrialCrew::start(Place& place) {
  begin_in(place, place.request);
}

void TrialCrew::begin_in(Place& place, const TrialRequest& request) {
  if (!place.process || place.process->is_gone()) {
    place.process.reset();
    TrialSetup setup = parts_.setup;
    setup.scratch /= std::to_string(place.number);
    make_directories(setup.scratch);
    place.process = std::make_unique<TrialProcess>(parts_.command, setup, parts_.fingerprint, parts_.limits);
  }
  place.process->begin(request);
}

std::optional<TrialOutcome> TrialCrew::concluded(Place& place, TrialOutcome outcome) {
  if (place.unconfirmed) {
    TrialOutcome before = *std::exchange(place.unconfirmed, std::nullopt);
    if (outcome.result.end == FaultEnd::Survived) return before;
    // The row itself crashes or hangs here: the fault is tried without it.
    std::erase(place.request.rows, before.killers.back());
    start(place);
    return std::nullopt;
  }
  if (outcome.is_open) {
    start(place);
    return std::nullopt;
  }
  if (!outcome.result.ended_process()) return outcome;
  begin_in(place, {.file = place.request.file,
                   .text = {},
                   .rows = {outcome.killers.back()},
                   .most_rows = 1,
                   .without_fault = true});
  place.unconfirmed = std::move(outcome);
  return std::nullopt;
}

void TrialCrew::wait_for_output(double seconds) const {
  std::vector<pollfd> ready;
  for (const Place& place : places_) {
    if (place.fault && place.process) ready.push_back({place.process->output(), POLLIN, 0});
  }
  ::poll(ready.data(), ready.size(), static_cast<int>(seconds * 1e3));
}

std::vector<TrialCrew::Finished> TrialCrew::wait(double seconds) {
  wait_for_output(seconds);
  std::vector<Finished> finished;
  for (Place& place : places_) {
    if (!place.fault) continue;
    auto outcome = place.process->poll();
    if (!outcome) continue;
    outcome = concluded(place, *std::move(outcome));
    if (!outcome) continue;
    finished.push_back({*place.fault, *std::move(outcome)});
    place.fault.reset();
  }
  return finished;
}

}  // namespace assay::app
