#pragma once

#include "harness/core/roofline.h"
#include "harness/engine/experiment.h"
#include "harness/gpu/gpu.h"

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

/// Device memory that rows may keep between their blocks, first come, first served.
struct KeptMemory {
  std::uint64_t limit = 0;
  std::uint64_t used = 0;

  bool take(std::uint64_t bytes) {
    if (used + bytes > limit) return false;
    used += bytes;
    return true;
  }
};

/// The sets of tensors that the timed programs of one row run over: fresh memory in every block, filled on
/// the device from a set that was filled once.
class RotatingSets {
 public:
  /// What begins each block, and what it has to end as, stay on the device where `kept` has room for two
  /// sets; else every block is filled and read by the host. `kept` must outlive this.
  RotatingSets(Experiment& experiment, gpu::Difference& difference, int sets, KeptMemory& kept);

  /// New memory: inputs uploaded, outputs poisoned.
  void open();
  /// Takes the time of a submission; the next one goes on with the next set.
  gpu::Timing time(gpu::TimedRun run, double timeout_s);
  std::vector<double> dispatch_ns(double timeout_s);
  /// Whether every set that a program ran over holds `judged`; the memory goes.
  bool close(const std::vector<HostTensor>& judged);

  std::uint64_t memory_bytes() const { return memory_bytes_; }
  /// Of what ran in the block that was closed last: outputs' elements compared, of all.
  double verified_pct() const { return verified_pct_; }
  std::string program_hash() const { return program_hash_; }

 private:
  std::size_t first_set(std::size_t programs) const;
  bool is_right(const gpu::Workspace& workspace, const std::vector<HostTensor>& judged);
  bool equals_right_one(const gpu::Workspace& workspace);
  Experiment* experiment_;
  gpu::Difference* difference_;
  int count_;
  KeptMemory* kept_;
  std::optional<bool> may_keep_;          ///< once asked
  std::optional<gpu::Workspace> filled_;  ///< what every set begins as
  std::optional<gpu::Workspace> right_;   ///< one whose outputs were found right on the host
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
};

}  // namespace assay
