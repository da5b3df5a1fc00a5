#pragma once

#include "harness/engine/accuracy/experiment.h"
#include "harness/engine/timing/setup_scratch.h"
#include "harness/gpu/gpu.h"
#include "harness/op/roofline.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// How many sets of tensors a cold row rotates over, or why there can be no such row.
struct SetCount {
  int sets = 1;
  std::string refusal;  ///< a sentence with numbers; empty: there can
};

/// Enough sets of `set_bytes` that twice the last-level cache (`cache_bytes`; 0: unknown, taken for 64 MiB)
/// is used before one comes again, within half of the device's memory.
SetCount cold_sets(std::int64_t set_bytes, std::uint64_t cache_bytes, std::uint64_t device_memory_bytes);

/// The sets of tensors that the timed programs of one row run over: fresh memory in every block.
class RotatingSets {
 public:
  RotatingSets(Experiment& experiment, int sets) : experiment_(&experiment), count_(sets) {}

  /// New memory: inputs filled in, outputs poisoned.
  void open();
  /// Takes the time of a submission; the next one goes on with the next set.
  gpu::Timing time(gpu::TimedRun run, double timeout_s);
  std::vector<double> dispatch_ns(double timeout_s);
  /// The time of set-up in ns, see gpu::Executable::setup_ns.
  double setup_ns(double timeout_s);
  /// Whether every set that a program ran over holds `judged`, and in its scratch what set-up left there; the
  /// memory goes.
  bool close(const Answer& judged);
  /// Which of set-up's scratch the block that was closed last has changed; empty: none.
  const std::string& changed_scratch() const { return changed_scratch_; }

  std::uint64_t memory_bytes() const { return memory_bytes_; }
  /// Of what ran in the block that was closed last: outputs' elements compared, of all.
  double verified_pct() const { return verified_pct_; }
  std::string program_hash() const { return program_hash_; }

 private:
  std::size_t first_set(std::size_t programs) const;

  Experiment* experiment_;
  int count_;
  std::vector<gpu::Workspace> sets_;
  /// The newest submission; the same one again needs no recording.
  struct Recorded {
    gpu::TimedRun run;
    gpu::TimedBatch batch;
  };
  std::optional<Recorded> recorded_;
  std::size_t programs_run_ = 0;  ///< in this block
  std::uint64_t memory_bytes_ = 0;
  double verified_pct_ = 0;
  std::string program_hash_;
  std::optional<SetupScratch> setup_scratch_;  ///< of the block that is open
  std::string changed_scratch_;
};

}  // namespace assay
