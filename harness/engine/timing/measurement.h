#pragma once

#include "harness/engine/timing/rotating_sets.h"
#include "harness/engine/timing/sampler.h"
#include "harness/engine/timing/timing_tools.h"
#include "harness/op/roofline.h"
#include "harness/report/record/block.h"
#include "harness/report/record/perf_result.h"

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// One row whose answer was accepted and that may be timed.
struct TimedRow {
  const Case* test_case = nullptr;
  /// One or two data sets, with the experiments that were checked on them: the case's own and one of the
  /// secret seed, if there are any, or two of the secret seed. Timed programs alternate between both.
  std::vector<TimedData> data;
  bool has_known_data = true;  ///< the first of them is the case's own
  std::uint64_t chance = 0;    ///< seed of all random choices while it is timed
  std::string judged_hash;     ///< answer_hash_of() the accepted answer on its own data
  Cache cache = Cache::Hot;
  Ceiling ceiling = Ceiling::Bandwidth;           ///< of the impl that is timed
  std::string impl_auto;                          ///< impl auto: the chosen impl
  std::optional<std::size_t> baseline;            ///< index of its baseline row
  SampledBefore before;                           ///< blocks of an earlier attempt
  std::function<void()> begins;                   ///< called before each of its blocks; may be empty
  std::function<void(const Block&)> block_ended;  ///< called with each block as it ends; may be empty

  gpu::Executable& executable() const { return data.front().experiment->executable(); }
};

/// The result of sampling one row.
struct Measurement {
  /// False: the timed programs did not compute the accepted answer; `perf` has no time.
  bool verified = false;
  /// Not verified because the programs changed this scratch: "the scratch 'w', which set-up wrote once ...".
  std::string changed_scratch;
  std::string changed_memory;  ///< not verified because they changed inputs or guards: a sentence
  PerfResult perf;
  std::exception_ptr failure;  ///< error on the GPU while it was sampled
  bool stopped = false;        ///< a stop was requested before it had enough samples
  std::string refusal;         ///< why it could not be timed as requested; empty: it was
  double total_s = 0;          ///< wall time of its blocks and extra passes
  TimeSpent spent;             ///< breakdown of total_s, without the check of the answer
};

/// Samples the rows interleaved, verifies every block's outputs, then measures throughput and each dispatch's
/// share in separate passes. Rows that are compared are sampled in the same rounds. A row with enough blocks
/// from before is not sampled again; wall times cover this attempt only.
std::vector<Measurement> measure(std::span<const TimedRow> rows, TimingTools& tools,
                                 const SamplingOptions& options);

/// A rough time of one program of `experiment`, from a handful of submissions at whatever clock the device
/// has.
double rough_time_ns(Experiment& experiment, double timeout_s);

}  // namespace assay
