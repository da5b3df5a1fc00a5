#pragma once

#include "harness/engine/timing/rotation.h"
#include "harness/engine/timing/sampler.h"
#include "harness/engine/timing/timing_tools.h"
#include "harness/op/roofline.h"
#include "harness/report/record/record.h"

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// One row that has been judged right and may be timed.
struct TimedRow {
  const Case* test_case = nullptr;
  /// The case's own data, whose experiment is the one that was judged; behind them those of the secret seed,
  /// where it has such: what is timed takes turns over both.
  std::vector<TimedData> data;
  std::uint64_t chance = 0;  ///< the seed of what is left to chance while it is timed
  std::string judged_hash;   ///< answer_hash_of what was judged on its own data
  Cache cache = Cache::Hot;
  Ceiling ceiling = Ceiling::Bandwidth;           ///< of the impl whose program it is
  std::string impl_auto;                          ///< impl auto: the impl that it chose
  std::optional<std::size_t> baseline;            ///< index of the row that it is compared with
  SampledBefore before;                           ///< by an earlier try
  std::function<void()> begins;                   ///< told before each of its blocks; may be empty
  std::function<void(const Block&)> block_ended;  ///< told each block as it ends; may be empty

  Experiment& own() const { return *data.front().experiment; }
};

/// What sampling one row gave.
struct Measurement {
  bool verified = false;  ///< false: what was timed did not compute the judged answer; `perf` has no time
  std::string changed_scratch;  ///< not verified because it changed this scratch, which set-up wrote
  PerfResult perf;
  std::exception_ptr failure;  ///< what went wrong on the GPU while it was sampled
  bool stopped = false;        ///< a stop was requested before it had been sampled enough
  std::string refusal;         ///< why it could not be timed as it was asked; empty: it was
  double total_s = 0;          ///< wall time of its blocks and side passes
  TimeSpent spent;             ///< of that; nothing is known of judging here
};

/// Samples the rows interleaved, verifies every block's outputs, then measures throughput and the share of
/// each dispatch in passes of their own. Rows that are compared are sampled in the same rounds. A row whose
/// blocks from before suffice takes no other; wall times are of this try.
std::vector<Measurement> measure(std::span<const TimedRow> rows, TimingTools& tools,
                                 const SamplingOptions& options);

/// The time of one program of `experiment`, roughly: from a handful of submissions, clock up or not.
double rough_time_ns(Experiment& experiment, double timeout_s);

}  // namespace assay
