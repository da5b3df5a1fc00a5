#include "harness/commands/tune/search.h"

#include "harness/commands/points/draw.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace assay::app {
namespace {

constexpr double no_time = std::numeric_limits<double>::infinity();

/// Draws that may fail, where few candidates may run, before a search gives up.
constexpr int most_draws = 2000;

/// The candidates that were timed so far, and the budget for more.
class Trials {
 public:
  Trials(const TuningSpace& space, const SearchLimits& limits, const TimesOf& times_of)
      : space_(space), limits_(limits), times_of_(times_of), defaults_(space.axes.size(), 0) {
    result_.best = defaults_;
    result_.best_time = no_time;
    note({&defaults_, 1}, times_of_({&defaults_, 1}));
  }

  bool is_over() const {
    return spent_ >= limits_.most_candidates || (limits_.must_stop && limits_.must_stop());
  }

  bool is_new(const Candidate& candidate) {
    if (result_.tried.contains(candidate)) return false;
    const auto [known, is_first] = may_run_.try_emplace(candidate, false);
    if (is_first) known->second = !space_.may_run || space_.may_run(candidate);
    return known->second;
  }

  /// Times those that are new, as far as the budget goes.
  void time(std::vector<Candidate> candidates) {
    std::vector<Candidate> batch;
    const auto time_batch = [&] {
      if (!batch.empty() && !is_over()) note(batch, times_of_(batch));
      batch.clear();
    };
    for (Candidate& candidate : candidates) {
      const bool is_in_batch = std::ranges::find(batch, candidate) != batch.end();
      if (is_in_batch || !is_new(candidate)) continue;
      if (spent_ + batch.size() >= limits_.most_candidates) break;
      batch.push_back(std::move(candidate));
      if (batch.size() == limits_.candidates_of_a_batch) time_batch();
    }
    time_batch();
  }

  /// Infinite for a candidate that has none.
  double time_of(const Candidate& candidate) const {
    const auto found = result_.tried.find(candidate);
    return found == result_.tried.end() ? no_time : found->second.value_or(no_time);
  }

  const SearchResult& so_far() const { return result_; }
  SearchResult take() && { return std::move(result_); }
  void started_again() { ++result_.restarts; }
  void counted(std::size_t candidates) { result_.candidates = candidates; }

 private:
  void note(std::span<const Candidate> batch, const std::vector<std::optional<double>>& times) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::optional<double> time = i < times.size() ? times[i] : std::nullopt;
      result_.tried[batch[i]] = time;
      if (time && *time < result_.best_time) {
        result_.best = batch[i];
        result_.best_time = *time;
      }
      if (batch[i] != defaults_) ++spent_;
    }
  }

  const TuningSpace& space_;
  const SearchLimits& limits_;
  const TimesOf& times_of_;
  const Candidate defaults_;
  SearchResult result_;
  std::map<Candidate, bool> may_run_;
  std::size_t spent_ = 0;
};

Candidate drawn_candidate(const TuningSpace& space, Draw& draw) {
  Candidate drawn;
  for (const TuningAxis& axis : space.axes) drawn.push_back(draw.below(axis.values.size()));
  return drawn;
}

/// A candidate that was not timed and may run; nothing if none is found.
std::optional<Candidate> new_candidate(const TuningSpace& space, Trials& trials, Draw& draw) {
  for (int i = 0; i < most_draws; ++i) {
    Candidate drawn = drawn_candidate(space, draw);
    if (trials.is_new(drawn)) return drawn;
  }
  return std::nullopt;
}

/// The candidate with two or three drawn values, likewise.
std::optional<Candidate> shaken(const Candidate& from, const TuningSpace& space, Trials& trials, Draw& draw) {
  for (int i = 0; i < most_draws; ++i) {
    Candidate made = from;
    for (std::uint64_t n = 2 + draw.below(2); n > 0; --n) {
      const std::size_t axis = draw.below(made.size());
      made[axis] = draw.below(space.axes[axis].values.size());
    }
    if (trials.is_new(made)) return made;
  }
  return std::nullopt;
}

Candidate with_place(Candidate candidate, std::size_t axis, std::size_t place) {
  candidate[axis] = place;
  return candidate;
}

/// The places next to the candidate's along one axis; from the default, two spread over the values.
std::vector<std::size_t> next_places(std::size_t at, std::size_t places) {
  if (places < 2) return {};
  const std::size_t last = places - 1;
  if (at == 0) return {1 + (last - 1) / 3, 1 + 2 * (last - 1) / 3};
  std::vector<std::size_t> next;
  if (at > 1) next.push_back(at - 1);
  if (at < last) next.push_back(at + 1);
  return next;
}

std::vector<Candidate> steps_from(const Candidate& at, const TuningSpace& space) {
  std::vector<Candidate> steps;
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    for (const std::size_t place : next_places(at[axis], space.axes[axis].values.size()))
      steps.push_back(with_place(at, axis, place));
  }
  return steps;
}

/// For each tunable that the candidate sets, the candidate that leaves it unset and is the same otherwise.
std::vector<Candidate> unset_one(const Candidate& at) {
  std::vector<Candidate> made;
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    if (at[axis] != 0) made.push_back(with_place(at, axis, 0));
  }
  return made;
}

/// Times these steps from a candidate along one axis each, and the step that takes the best of each axis at
/// once. Returns the best of all, or the candidate itself.
Candidate best_step(const Candidate& at, std::vector<Candidate> steps, Trials& trials, Draw& draw) {
  draw.shuffle(steps);  // where the budget ends within them, no axis is at an advantage
  trials.time(steps);
  std::ranges::stable_sort(steps, {}, [&](const Candidate& step) { return trials.time_of(step); });
  Candidate all = at;
  for (const Candidate& step : steps) {
    if (trials.time_of(step) >= trials.time_of(at)) break;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      if (step[axis] != at[axis] && all[axis] == at[axis]) all[axis] = step[axis];
    }
  }
  if (all == at) return at;
  trials.time({all});
  return trials.time_of(all) < trials.time_of(steps.front()) ? all : steps.front();
}

/// Goes on while a step along some axis helps.
void descend(Candidate at, const TuningSpace& space, Trials& trials, Draw& draw) {
  while (!trials.is_over()) {
    Candidate next = best_step(at, steps_from(at, space), trials, draw);
    if (next == at) next = best_step(at, unset_one(at), trials, draw);
    if (next == at) return;
    at = std::move(next);
  }
}

/// The best of a few drawn candidates; nothing if none is left to be drawn.
std::optional<Candidate> best_drawn(std::size_t count, const TuningSpace& space, Trials& trials, Draw& draw) {
  std::vector<Candidate> drawn;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::optional<Candidate> one = new_candidate(space, trials, draw)) drawn.push_back(*std::move(one));
  }
  if (drawn.empty()) return std::nullopt;
  trials.time(drawn);
  return *std::ranges::min_element(drawn, {}, [&](const Candidate& one) { return trials.time_of(one); });
}

}  // namespace

Candidate candidate_of(const TuningSpace& space, const std::map<std::string, std::int64_t>& values) {
  Candidate made;
  for (const TuningAxis& axis : space.axes) {
    std::size_t& place = made.emplace_back(0);
    const auto set = values.find(axis.tunable);
    for (std::size_t i = 1; i < axis.values.size() && set != values.end(); ++i) {
      if (axis.values[i] == set->second) place = i;
    }
  }
  return made;
}

std::optional<std::vector<Candidate>> TuningSpace::all(std::size_t most) const {
  std::vector<Candidate> made{{}};
  for (const TuningAxis& axis : axes) {
    if (made.size() * axis.values.size() > most) return std::nullopt;
    std::vector<Candidate> longer;
    for (const Candidate& candidate : made) {
      for (std::size_t value = 0; value < axis.values.size(); ++value) {
        longer.push_back(candidate);
        longer.back().push_back(value);
      }
    }
    made = std::move(longer);
  }
  std::erase_if(made, [&](const Candidate& candidate) { return may_run && !may_run(candidate); });
  return made;
}

SearchResult coordinate_search(const TuningSpace& space, const SearchLimits& limits, const TimesOf& times_of,
                               std::span<const Candidate> first) {
  // Combinations, most of which may not be able to run.
  constexpr std::size_t least_listed = 4096, most_listed = 200'000, listed_per_candidate = 32;
  Trials trials(space, limits, times_of);
  trials.time({first.begin(), first.end()});
  if (space.axes.empty()) return std::move(trials).take();
  const std::optional<std::vector<Candidate>> all =
      space.all(std::clamp(listed_per_candidate * limits.exhaustive_up_to, least_listed, most_listed));
  if (all) {
    const auto defaults = std::ranges::count(*all, Candidate(space.axes.size(), 0));
    trials.counted(all->size() - static_cast<std::size_t>(defaults));
  }
  if (all && all->size() <= std::min(limits.exhaustive_up_to, limits.most_candidates)) {
    trials.time(*all);
    return std::move(trials).take();
  }
  constexpr std::size_t drawn_of_a_restart = 4;
  Draw draw(limits.seed);
  if (first.empty()) best_drawn(2 * space.axes.size(), space, trials, draw);
  descend(trials.so_far().best, space, trials, draw);
  while (!trials.is_over()) {
    const bool is_from_best = trials.so_far().restarts % 2 == 0;
    const std::optional<Candidate> start = is_from_best ? shaken(trials.so_far().best, space, trials, draw)
                                                        : best_drawn(drawn_of_a_restart, space, trials, draw);
    if (!start) break;  // everything that may run was timed
    trials.started_again();
    trials.time({*start});
    descend(*start, space, trials, draw);
  }
  return std::move(trials).take();
}

SearchResult random_search(const TuningSpace& space, const SearchLimits& limits, const TimesOf& times_of) {
  Trials trials(space, limits, times_of);
  Draw draw(limits.seed);
  while (!trials.is_over()) {
    std::vector<Candidate> batch;
    while (batch.size() < limits.candidates_of_a_batch) {
      std::optional<Candidate> drawn = new_candidate(space, trials, draw);
      if (!drawn) break;
      batch.push_back(*std::move(drawn));
    }
    const std::size_t before = trials.so_far().tried.size();
    trials.time(std::move(batch));
    if (trials.so_far().tried.size() == before) break;  // everything that may run was timed
  }
  return std::move(trials).take();
}

}  // namespace assay::app
