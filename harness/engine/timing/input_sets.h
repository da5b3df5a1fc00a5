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

/// One data set that a row is timed on.
struct TimedData {
  Experiment* experiment = nullptr;  ///< judged on this data already
  Answer judged;                     ///< the outputs that the reference accepted
};

/// Which sets of inputs the programs of a timed row run over. Hot rows use the same memory again and again;
/// with two data sets their programs alternate between both.
enum class InputSets : std::uint8_t {
  One,                 ///< hot, always the same data
  AlternateByProgram,  ///< hot, two data sets in a random order
  AlternateByBatch,    ///< hot, two data sets; all programs of a submission have the same data
  Cold                 ///< so many sets in rotation that none is in a cache when it comes again
};

/// The sets of tensors that the programs of a row use, or why the row cannot be timed.
struct SetPlan {
  InputSets kind = InputSets::One;
  int sets = 1;         ///< their number
  std::string refusal;  ///< a sentence with numbers; empty: the row can be timed
};

/// Enough sets of `set_bytes` that twice the last-level cache (`cache_bytes`; 0: unknown, taken for 64 MiB)
/// is used before one comes again, within half of the device's memory.
SetPlan cold_sets(std::int64_t set_bytes, std::uint64_t cache_bytes, std::uint64_t device_memory_bytes);

/// The plan of a hot row with two data sets, which share the memory of their outputs. They alternate by
/// program if both fill at most half of the cache, since both stay in it then; by batch if they fill more;
/// there is one set if they fill more than half of the device's memory.
SetPlan hot_sets(std::int64_t set_bytes, std::uint64_t cache_bytes, std::uint64_t device_memory_bytes);

/// The sets of tensors that the timed programs of one row use in rotation: fresh memory in every block.
///
/// With two data sets no program can reuse the answer of the program before it. The programs of a hot row
/// write the same outputs and scratch from the inputs of either set, in an order that they cannot know; each
/// set of a cold row is filled with one of the two, drawn by chance.
class RotatingSets {
 public:
  /// `data`: one or two data sets. `seed`: for the random order.
  RotatingSets(std::vector<TimedData> data, SetPlan plan, std::uint64_t seed)
      : data_(std::move(data)), plan_(std::move(plan)), chance_(seed) {}

  /// Allocates new memory, fills in the inputs and poisons the outputs.
  void open();
  /// Times one submission; the next one begins with the next set.
  gpu::Timing time(gpu::TimedRun run, double timeout_s);
  std::vector<double> dispatch_ns(double timeout_s);
  /// The time in ns of a single program of a hot row, after `warm` programs on the other data set, if there
  /// is one: its inputs are in the cache, and the memory that it writes was overwritten before. Nothing
  /// without timestamps.
  std::optional<double> isolated_ns(int warm, double timeout_s);
  /// The time of set-up in ns; see gpu::Executable::setup_ns.
  double setup_ns(double timeout_s);
  /// Frees the memory. Returns whether the outputs equal the judged ones for the data of the last program,
  /// those of one more program on the other data do as well, and set-up's scratch is unchanged since set-up.
  bool close(double timeout_s);
  /// The name of the first set-up scratch that the last closed block changed; empty: none.
  const std::string& changed_scratch() const { return changed_scratch_; }

  std::uint64_t memory_bytes() const { return memory_bytes_; }
  /// The share of the sets written in the last closed block whose outputs were compared, in percent.
  double verified_pct() const { return verified_pct_; }
  std::string program_hash() const { return program_hash_; }

 private:
  struct Set {
    gpu::Workspace memory;
    std::size_t data = 0;  ///< index in data_ of its inputs
    bool used = false;
  };
  /// The last submission, which is submitted again without recording if it is asked for again.
  struct Recorded {
    gpu::TimedRun run;
    std::vector<std::size_t> order;
    gpu::TimedBatch batch;
  };

  bool is_cold() const { return plan_.kind == InputSets::Cold; }
  bool alternates() const {
    return plan_.kind == InputSets::AlternateByProgram || plan_.kind == InputSets::AlternateByBatch;
  }
  void open_hot();
  void open_cold();
  void copy_first_sets();
  void keep_setup_scratch();
  std::vector<std::size_t> drawn_order();
  std::vector<std::size_t> order_of(const gpu::TimedRun& run);
  void note_run(const std::vector<std::size_t>& order, std::size_t first, std::size_t programs);
  std::vector<std::size_t> written_sets() const;
  std::size_t count_right(const std::vector<std::size_t>& written);
  bool is_right_with_other_data(double timeout_s);

  gpu::Executable& executable() { return data_.front().experiment->executable(); }

  std::vector<TimedData> data_;
  SetPlan plan_;
  std::mt19937_64 chance_;
  std::vector<Set> sets_;
  std::vector<std::size_t> order_;  ///< the sets that programs use, repeated
  std::optional<Recorded> recorded_;
  std::size_t programs_run_ = 0;  ///< in this block
  std::size_t last_set_ = 0;      ///< the set of the program that ran last
  std::uint64_t memory_bytes_ = 0;
  double verified_pct_ = 0;
  std::string program_hash_;
  std::vector<SetupScratch> setup_scratch_;  ///< one per data set, of the open block
  std::string changed_scratch_;
};

}  // namespace assay
