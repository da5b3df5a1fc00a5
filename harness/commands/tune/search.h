#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

// The search for the best values of an impl's tunables: a pure function of a callback that gives the times of
// candidates, so that it can be tried on tables (docs/tuning.md).

/// A tunable and the values that a search tries.
struct TuningAxis {
  std::string tunable;
  /// The first is nothing: the tunable is not set, and the impl chooses.
  std::vector<std::optional<std::int64_t>> values{std::nullopt};
};

/// One place in each axis. All zeros: the built-in defaults.
using Candidate = std::vector<std::size_t>;

/// The candidates of a search.
struct TuningSpace {
  std::vector<TuningAxis> axes;
  /// Whether the impl can run the candidate, as far as is known without running it; costs no budget.
  std::function<bool(const Candidate&)> may_run;

  /// Number of candidates that may run, counted up to `most` + 1 of all combinations: nothing if there are
  /// more combinations than that.
  std::optional<std::vector<Candidate>> all(std::size_t most) const;
};

/// The candidate that sets these values, each of which is in its axis; other tunables are not set.
Candidate candidate_of(const TuningSpace& space, const std::map<std::string, std::int64_t>& values);

/// Gives a figure of each candidate that grows with its time; nothing for one that is wrong, crashes or
/// hangs. The candidates of one call are timed side by side.
using TimesOf = std::function<std::vector<std::optional<double>>(std::span<const Candidate>)>;

struct SearchLimits {
  std::size_t most_candidates = 200;       ///< that are timed, the defaults not counted
  std::size_t exhaustive_up_to = 32;       ///< all are timed if no more than this may run
  std::size_t candidates_of_a_batch = 12;  ///< at most, in one call
  std::uint64_t seed = 1;
  std::function<bool()> must_stop = {};  ///< asked before each batch; empty: never
};

struct SearchResult {
  Candidate best;            ///< the defaults if nothing is faster
  double best_time = 0;      ///< the callback's figure
  std::size_t restarts = 0;  ///< of the coordinate search
  /// How many may run, the defaults not counted; absent: too many combinations to count them.
  std::optional<std::size_t> candidates;
  std::map<Candidate, std::optional<double>> tried;
};

/// Times the defaults and `first` (what was best for neighbouring shapes; if there is none, two drawn
/// candidates for each tunable), then searches: all candidates if they are few, else from the best so far
/// along the coordinates: the next values of every tunable are timed, each with the others kept, and then all
/// that helped at once; the best of these is the next place. Where no step helps it starts again, alternately
/// from the best candidate with two or three drawn values and from the best of four drawn ones. A function of
/// its arguments alone.
SearchResult coordinate_search(const TuningSpace& space, const SearchLimits& limits, const TimesOf& times_of,
                               std::span<const Candidate> first = {});

/// Times drawn candidates, none twice: what coordinate_search() has to beat.
SearchResult random_search(const TuningSpace& space, const SearchLimits& limits, const TimesOf& times_of);

}  // namespace assay::app
