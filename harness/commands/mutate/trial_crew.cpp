#include "harness/commands/mutate/trial_crew.h"

#include "harness/base/file.h"

#include <algorithm>
#include <poll.h>
#include <utility>

namespace assay::app {

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
