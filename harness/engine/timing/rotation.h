#pragma once

#include "harness/engine/accuracy/experiment.h"
#include "harness/engine/timing/setup_scratch.h"
#include "harness/gpu/gpu.h"
#include "harness/op/roofline.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace assay {

/// Data that a row is timed on.
struct TimedData {
  Experiment* experiment = nullptr;  ///< it has been judged on them
  Answer judged;                     ///< the outputs that the reference accepted
};

/// When the programs of a hot row change to other data, where there are others.
enum class DataTurns : std::uint8_t {
  Never,
  EachProgram,    ///< in an order that is drawn by chance
  EachSubmission  ///< the same
};

/// How many sets of tensors the programs of a row run over, or why the row cannot be timed.
struct SetPlan {
  int sets = 1;
  DataTurns turns = DataTurns::Never;
  std::string refusal;  ///< a sentence with numbers; empty: it can
};

/// Enough sets of `set_bytes` that twice the last-level cache (`cache_bytes`; 0: unknown, taken for 64 MiB)
/// is used before one comes again, within half of the device's memory.
SetPlan cold_sets(std::int64_t set_bytes, std::uint64_t cache_bytes, std::uint64_t device_memory_bytes);

/// Of a hot row with two data sets (its outputs are the same memory for both): they take turns by programs
/// where both sets fill at most half of the cache, since each is in it then; by submissions where they fill
/// more; never where they fill more than half of the device's memory.
SetPlan hot_sets(std::int64_t set_bytes, std::uint64_t cache_bytes, std::uint64_t device_memory_bytes);

/// The sets of tensors that the timed programs of one row run over: fresh memory in every block.
///
/// With two data sets no program can live on what the one before it left. A hot row's write the same outputs
/// and the same scratch, from inputs of either, in an order that nobody knows before; a cold row's sets are
/// filled with either by chance.
class RotatingSets {
 public:
  /// `data`: one or two. `seed`: of what is left to chance.
  RotatingSets(std::vector<TimedData> data, SetPlan plan, std::uint64_t seed)
      : data_(std::move(data)), plan_(std::move(plan)), chance_(seed) {}

  /// New memory: inputs filled in, outputs poisoned.
  void open();
  /// Takes the time of a submission; the next one goes on with the next set.
  gpu::Timing time(gpu::TimedRun run, double timeout_s);
  std::vector<double> dispatch_ns(double timeout_s);
  /// The time of one program by itself: behind `warm` programs with other data, where there are such, its
  /// inputs warm, what it writes overwritten before. Nothing without timestamps. Of hot rows.
  std::optional<double> isolated_ns(int warm, double timeout_s);
  /// The time of set-up in ns, see gpu::Executable::setup_ns.
  double setup_ns(double timeout_s);
  /// Whether the outputs that programs wrote are those judged on the data that the last of them had, those of
  /// one more program with other data are right too, and set-up's scratch is as set-up left it; the memory
  /// goes.
  bool close(double timeout_s);
  /// Which of set-up's scratch the block that was closed last has changed; empty: none.
  const std::string& changed_scratch() const { return changed_scratch_; }

  std::uint64_t memory_bytes() const { return memory_bytes_; }
  /// Of what the programs of the block that was closed last left: outputs compared, of all, in percent.
  double verified_pct() const { return verified_pct_; }
  std::string program_hash() const { return program_hash_; }

 private:
  struct Set {
    gpu::Workspace memory;
    std::size_t data = 0;  ///< which of data_ its inputs are
    bool used = false;
  };
  /// The newest submission; the same one again needs no recording.
  struct Recorded {
    gpu::TimedRun run;
    std::vector<std::size_t> order;
    gpu::TimedBatch batch;
  };

  bool is_cold() const { return plan_.turns == DataTurns::Never && plan_.sets > 1; }
  void open_hot();
  void open_cold();
  void copy_first_sets();
  void keep_setup_scratch();
  std::vector<std::size_t> drawn_order();
  std::vector<std::size_t> order_of(const gpu::TimedRun& run);
  void note_run(const std::vector<std::size_t>& order, std::size_t first, std::size_t programs);
  std::vector<std::size_t> written_sets() const;
  std::size_t count_right(const std::vector<std::size_t>& written);
  bool is_right(std::size_t set);
  bool is_right_with_other_data(double timeout_s);

  gpu::Executable& executable() { return data_.front().experiment->executable(); }

  std::vector<TimedData> data_;
  SetPlan plan_;
  std::mt19937_64 chance_;
  std::vector<Set> sets_;
  std::vector<std::size_t> order_;  ///< of the sets that programs take in turn, again and again
  std::optional<Recorded> recorded_;
  std::size_t programs_run_ = 0;  ///< in this block
  std::size_t last_set_ = 0;      ///< of the program that ran last
  std::uint64_t memory_bytes_ = 0;
  double verified_pct_ = 0;
  std::string program_hash_;
  std::vector<SetupScratch> setup_scratch_;  ///< of each data, of the block that is open
  std::string changed_scratch_;
};

}  // namespace assay
