#pragma once

#include "harness/base/statistics.h"
#include "harness/base/status.h"
#include "harness/commands/context.h"
#include "harness/commands/tune/options.h"
#include "harness/commands/tune/tuning_points.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// What became of a candidate at a point.
struct TriedTune {
  Tune tune;
  Status status = Status::Missing;
  std::string reason;  ///< of that status
  /// The time divided by the defaults', from the rounds of blocks that both took part in; absent: it did not
  /// pass, was not reached, or `assay compare` would not judge by what was measured.
  std::optional<Ratio> ratio;
  double time_us = 0;  ///< 0: none
};

/// Candidates of one point, timed side by side.
struct TriedTunes {
  std::string default_problem;   ///< why the row with the built-in defaults has no time; empty: it has one
  bool is_failure = false;       ///< that is a failure of the row, which could run
  bool is_cut_short = false;     ///< several candidates hung, and the run did not wait for the rest
  std::vector<TriedTune> tried;  ///< in the order asked
};

/// Times candidates as rows of an `assay run` of their own, next to the built-in defaults: each is judged
/// before it is timed, their blocks alternate, and a worker process runs them, so that one that crashes or
/// hangs costs itself.
class TuningRuns {
 public:
  /// All must outlive this. `folder` is for files of its own, which are removed with it.
  TuningRuns(const TuneOptions& options, const Context& context, const Terminal& terminal,
             std::filesystem::path folder);
  ~TuningRuns();
  TuningRuns(const TuningRuns&) = delete;
  TuningRuns& operator=(const TuningRuns&) = delete;

  /// `seconds` is the sampling budget of each row. A stop leaves the rest without a time. Throws Error.
  TriedTunes run(const TuningPoint& point, std::span<const Tune> tunes, double seconds,
                 const std::function<bool()>& must_stop);

 private:
  const TuneOptions& options_;
  const Context& context_;
  const Terminal& terminal_;
  std::filesystem::path folder_;
};

}  // namespace assay::app
