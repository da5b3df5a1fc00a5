#include "harness/commands/tune/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

namespace assay::app {
namespace {

using testing::Each;
using testing::Le;

/// Tunables with so many values each, besides the default.
TuningSpace space_of(const std::vector<std::int64_t>& counts) {
  TuningSpace space;
  for (const std::int64_t count : counts) {
    TuningAxis& axis = space.axes.emplace_back();
    axis.tunable = "t" + std::to_string(space.axes.size());
    for (std::int64_t value = 1; value <= count; ++value) axis.values.emplace_back(value);
  }
  return space;
}

/// Counts what is timed, and fails for a candidate that may not run or is timed twice.
class Bench {
 public:
  explicit Bench(TuningSpace space) : space_(std::move(space)) {}

  template <class Time>
  SearchResult search(const SearchLimits& limits, Time time, std::span<const Candidate> first = {}) {
    return coordinate_search(space_, limits, times_of(time), first);
  }
  template <class Time>
  SearchResult draw(const SearchLimits& limits, Time time) {
    return random_search(space_, limits, times_of(time));
  }

  std::vector<std::size_t> batches;  ///< sizes of the calls
  std::set<Candidate> timed;

 private:
  template <class Time>
  TimesOf times_of(Time time) {
    batches.clear();
    timed.clear();
    return [this, time](std::span<const Candidate> batch) {
      batches.push_back(batch.size());
      std::vector<std::optional<double>> times;
      for (const Candidate& candidate : batch) {
        EXPECT_TRUE(timed.insert(candidate).second) << "timed twice";
        EXPECT_TRUE(!space_.may_run || space_.may_run(candidate));
        times.push_back(time(candidate));
      }
      return times;
    };
  }

  TuningSpace space_;
};

/// Times that fall towards one candidate, coordinate by coordinate.
double bowl(const Candidate& at, const Candidate& best) {
  double time = 1;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double away = static_cast<double>(at[i]) - static_cast<double>(best[i]);
    time += 0.1 * away * away;
  }
  return time;
}

TEST(CoordinateSearch, TimesAllCandidatesWhereTheyAreFew) {
  Bench bench(space_of({3, 2}));
  const SearchResult found = bench.search({}, [](const Candidate& at) { return bowl(at, {2, 1}); });
  EXPECT_EQ(found.best, (Candidate{2, 1}));
  EXPECT_EQ(found.tried.size(), 12U);
  EXPECT_EQ(found.candidates, 11U);
  EXPECT_THAT(bench.batches, Each(Le(12U)));
}

TEST(CoordinateSearch, FindsTheBestOfAThousandByTimingAFewDozen) {
  Bench bench(space_of({9, 9, 9, 9}));
  const SearchLimits limits{.most_candidates = 80, .exhaustive_up_to = 0};
  const Candidate best{7, 2, 5, 9};
  const SearchResult found = bench.search(limits, [&](const Candidate& at) { return bowl(at, best); });
  EXPECT_EQ(found.best, best);
  EXPECT_EQ(found.best_time, 1);
  EXPECT_EQ(found.tried.size(), 81U) << "the budget, and the defaults";
}

TEST(CoordinateSearch, StartsAgainWhereNoCoordinateHelps) {
  // From the defaults every single step is slower; the best candidate is elsewhere.
  Bench bench(space_of({5, 5, 5}));
  const auto time = [](const Candidate& at) {
    return std::min(bowl(at, {0, 0, 0}), 0.5 * bowl(at, {5, 5, 5}));
  };
  const SearchResult found = bench.search({.most_candidates = 150, .exhaustive_up_to = 0}, time);
  EXPECT_EQ(found.best, (Candidate{5, 5, 5}));
  EXPECT_GE(found.restarts, 1U);
}

TEST(CoordinateSearch, GoesAroundWhatCannotRunAndWhatFails) {
  TuningSpace space = space_of({8, 8, 8});
  space.may_run = [](const Candidate& at) { return (at[0] + at[1]) % 2 == 0; };
  Bench bench(space);
  const auto time = [](const Candidate& at) -> std::optional<double> {
    if (at[2] == 3) return std::nullopt;  // wrong
    return bowl(at, {4, 4, 4});
  };
  const SearchResult found = bench.search({.most_candidates = 150, .exhaustive_up_to = 0}, time);
  EXPECT_EQ(found.best, (Candidate{4, 4, 4}));
}

TEST(CoordinateSearch, KeepsTheDefaultsWhereNothingIsFasterOrRuns) {
  Bench bench(space_of({4, 4, 4}));
  const auto slower = [](const Candidate& at) { return bowl(at, {0, 0, 0}); };
  EXPECT_EQ(bench.search({.most_candidates = 50}, slower).best, (Candidate{0, 0, 0}));
  const auto fails = [](const Candidate& at) -> std::optional<double> {
    return at == Candidate{0, 0, 0} ? std::optional(1.0) : std::nullopt;
  };
  EXPECT_EQ(bench.search({.most_candidates = 50}, fails).best, (Candidate{0, 0, 0}));
  TuningSpace none = space_of({4, 4, 4});
  none.may_run = [](const Candidate& at) { return at == Candidate{0, 0, 0}; };
  Bench empty(none);
  EXPECT_EQ(empty.search({}, slower).tried.size(), 1U) << "and it ends";
  Bench without(space_of({}));
  EXPECT_EQ(without.search({}, slower).best, Candidate{});
}

TEST(CoordinateSearch, BeginsWithWhatIsBestElsewhere) {
  Bench bench(space_of({9, 9, 9, 9}));
  const std::vector<Candidate> first{{7, 2, 5, 9}, {1, 1, 1, 1}};
  const SearchResult found = bench.search(
      {.most_candidates = 2},
      [](const Candidate& at) {
        return bowl(at, {7, 2, 5, 9});
      },
      first);
  EXPECT_EQ(found.best, first[0]);
}

TEST(CoordinateSearch, StopsWhenAsked) {
  Bench bench(space_of({9, 9, 9}));
  SearchLimits limits{.exhaustive_up_to = 0, .candidates_of_a_batch = 3};
  limits.must_stop = [&] { return bench.timed.size() >= 10; };
  bench.search(limits, [](const Candidate& at) { return bowl(at, {3, 3, 3}); });
  EXPECT_LE(bench.timed.size(), 12U);
  EXPECT_GE(bench.timed.size(), 10U);
}

TEST(CoordinateSearch, IsTheSameForTheSameSeed) {
  Bench bench(space_of({9, 9, 9, 9}));
  const auto time = [](const Candidate& at) {
    return bowl(at, {7, 2, 5, 9}) + 0.3 * static_cast<double>(at[0] * at[1] % 3);
  };
  const auto run = [&](std::uint64_t seed) {
    return bench.search({.most_candidates = 60, .exhaustive_up_to = 0, .seed = seed}, time).tried;
  };
  EXPECT_EQ(run(4), run(4));
  EXPECT_NE(run(4), run(5));
}

TEST(RandomSearch, TimesEachCandidateOnceUntilTheBudgetOrTheCandidatesEnd) {
  Bench bench(space_of({3, 3}));
  const auto time = [](const Candidate& at) { return bowl(at, {3, 3}); };
  EXPECT_EQ(bench.draw({.most_candidates = 7}, time).tried.size(), 8U);
  const SearchResult found = bench.draw({.most_candidates = 1000}, time);
  EXPECT_EQ(found.tried.size(), 16U);
  EXPECT_EQ(found.best, (Candidate{3, 3}));
}

}  // namespace
}  // namespace assay::app
