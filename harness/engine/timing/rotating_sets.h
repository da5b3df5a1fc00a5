#pragma once

#include "harness/engine/accuracy/experiment.h"
#include "harness/gpu/gpu.h"
#include "harness/op/program.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace assay {

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
  int emptying = 0;     ///< cold: further sets, over which untimed programs run to empty the caches
  std::string refusal;  ///< a sentence with numbers; empty: the row can be timed
};

/// Enough sets of `set_bytes` that twice the last-level cache (`cache_bytes`; 0: unknown, taken for 64 MiB)
/// is used before one comes again, and further ones that empty the caches, which they fill once. All of them
/// and one that nothing uses must fit in half of the device's memory.
/// `held_bytes`: the memory of a set, if programs move less of it.
SetPlan cold_sets(std::int64_t set_bytes, std::uint64_t cache_bytes, std::uint64_t device_memory_bytes,
                  std::int64_t held_bytes = 0);

/// The plan of a hot row with two data sets, which share the memory of their outputs. They alternate by
/// program if both fill at most half of the cache, since both stay in it then; by batch if they fill more;
/// there is one set if they fill more than half of the device's memory.
SetPlan hot_sets(std::int64_t set_bytes, std::uint64_t cache_bytes, std::uint64_t device_memory_bytes);

/// The order in which programs use the sets of a cold row: round after round over all of them. Each round has
/// a new order, in which no set moves so far that its data could still be in a cache when it comes again:
/// at least seven eighths of the sets come before.
class ColdOrder {
 public:
  /// `chance` must outlive this object. There must be a set.
  ColdOrder(std::size_t sets, std::mt19937_64& chance);

  std::size_t sets() const { return order_.size(); }
  /// The sets of the next programs, one each.
  std::vector<std::size_t> take(std::size_t programs);

 private:
  void draw_round();

  std::mt19937_64* chance_;
  std::vector<std::size_t> order_;
  std::size_t next_ = 0;
};

/// A copy of the scratch that a program must leave as it finds it (constant_scratch()), in device memory that
/// no program can access. Its content is compared with it after timed runs, on the device.
class ConstantScratch {
 public:
  /// All arguments must outlive this.
  ConstantScratch(gpu::Device& device, gpu::DeviceMemory& memory, const Program& program);

  /// Copies the scratch of `set`, whose set-up has run and no program since. It is equal in all sets of a
  /// program. Throws gpu::OutOfMemory.
  void keep(const gpu::Workspace& set);
  /// The first scratch that differs from the copy in one of these sets, "the scratch 'w', which set-up wrote
  /// once ..."; nothing when none does.
  std::optional<std::string> changed_in(std::span<const gpu::Workspace* const> sets) const;
  /// Device memory of the copy.
  std::uint64_t memory_bytes() const { return kept_ ? kept_->memory_bytes() : 0; }

 private:
  gpu::Device* device_;
  gpu::DeviceMemory* memory_;
  const Program* program_;
  std::vector<Resource> scratch_;
  std::optional<gpu::Workspace> kept_;  ///< nothing: there is none
};

/// One data set that a row is timed on.
struct TimedData {
  Experiment* experiment = nullptr;  ///< judged on this data already
  Answer judged;                     ///< the outputs that the reference accepted
};

/// The sets of tensors that the timed programs of one row use: fresh memory in every block, with one of the
/// two poisons of judged runs.
///
/// With two data sets no program can reuse the answer of the program before it. The programs of a hot row
/// write the same outputs and scratch from the inputs of either set, in an order that they cannot know; each
/// set of a cold row is filled with one of the two, drawn by chance.
///
/// A set of a cold row that comes again in a later submission is as new: what programs write was poisoned
/// again. Programs over other sets run after that, so that its data are not in a cache.
///
/// Programs that update an output in place find what they begin with restored before each of them, so that a
/// submission has one program. Outputs that are written in part begin with the same data in every set; these
/// are restored wherever outputs are poisoned.
class RotatingSets {
 public:
  /// `data`: one or two data sets. `seed`: for the random choices. Untimed programs that would make a
  /// submission longer than `longest_ns` have submissions of their own, which are no longer, or one program:
  /// a driver's watchdog may end longer ones. `device` and `memory` must outlive this.
  RotatingSets(gpu::Device& device, gpu::DeviceMemory& memory, std::vector<TimedData> data, SetPlan plan,
               bool is_updated_in_place, std::uint64_t seed, double longest_ns);

  /// Allocates new memory, fills in the inputs and poisons the rest.
  void open();
  /// Times one submission; the next one begins with the next set.
  gpu::Timing time(gpu::TimedRun run, double timeout_s);
  /// The sets of a cold row that are in rotation; of a hot row 1.
  int sets_of_round() const { return is_cold() ? plan_.sets : 1; }
  /// Runs the programs of such a submission for a window of many submissions, between which the host does as
  /// little as possible: most are submitted again as they were recorded (of a cold row if they are whole
  /// rounds over its sets), and nothing is poisoned in between. Not for programs that update an output in
  /// place.
  void run_in_window(const gpu::TimedRun& run, double timeout_s);
  /// What an audit found.
  struct Audit {
    bool is_right = true;
    gpu::Timing first;  ///< of the first audited program
  };
  /// Runs the programs of such a submission up to one drawn by chance. The outputs of that one and, if a
  /// submission has several programs, of one to three more are poisoned before and compared after it; the
  /// last two only while all this has taken less than `most_s`.
  Audit audit(const gpu::TimedRun& run, double most_s, double timeout_s);
  std::vector<double> dispatch_ns(double timeout_s);
  /// The time in ns of a single program, after `warm` programs over another set, on the other data if a hot
  /// row has two; the memory that it writes was overwritten before. Nothing without timestamps.
  std::optional<double> isolated_ns(int warm, double timeout_s);
  /// The time in ns of a batch of a hot row whose programs all have the same data.
  double batch_ns_on(std::size_t data, gpu::TimedRun run, double timeout_s);
  /// The time of set-up in ns; see gpu::Executable::setup_ns.
  double setup_ns(double timeout_s);
  /// Frees the memory. Returns whether the outputs equal the judged ones for the data of the last program,
  /// those of one more program on the other data do as well, the scratch of constant_scratch() is unchanged,
  /// and so are inputs and guards (of a cold row those of a few sets).
  bool close(double timeout_s);
  /// Frees the memory of a block that failed.
  void abandon();
  /// The first scratch of constant_scratch() that the last closed block changed, with what it is; empty:
  /// none.
  const std::string& changed_scratch() const { return changed_scratch_; }
  /// What the last closed block changed of inputs and guards, as a sentence; empty: nothing.
  const std::string& changed_memory() const { return changed_memory_; }

  std::uint64_t memory_bytes() const { return memory_bytes_; }
  /// The share of the sets written in the last closed block whose outputs were compared, in percent.
  double verified_pct() const { return verified_pct_; }
  std::string program_hash() const { return program_hash_; }
  /// A random number that no program can know.
  std::uint64_t chance() { return chance_(); }

 private:
  struct Set {
    gpu::Workspace memory;
    std::size_t data = 0;     ///< index in data_ of its inputs
    bool used = false;        ///< since the block began
    bool has_answer = false;  ///< a program ran over it since it was poisoned
  };
  /// The sets of the programs of one submission, repeated from `first` on.
  struct Turn {
    std::vector<std::size_t> sets;
    std::size_t first = 0;
    int emptying = 0;  ///< cold: further programs before the others, which empty the caches

    std::size_t at(std::size_t program) const { return sets[(first + program) % sets.size()]; }
  };
  /// The last submission, which is submitted again without recording if it is asked for again.
  struct Recorded {
    gpu::TimedRun run;
    Turn turn;
    gpu::TimedBatch batch;
  };

  bool is_cold() const { return plan_.kind == InputSets::Cold; }
  bool alternates() const {
    return plan_.kind == InputSets::AlternateByProgram || plan_.kind == InputSets::AlternateByBatch;
  }
  void open_hot();
  void open_cold();
  /// Where programs update an output in place: gives a set's outputs what they begin with.
  void restore(std::size_t set);
  void copy_first_sets();
  void keep_constant_scratch();
  std::vector<std::size_t> drawn_order();
  Turn turn_of(const gpu::TimedRun& run);
  Turn cold_turn(const gpu::TimedRun& run);
  void poison_answers();
  std::vector<std::size_t> rotation_of(const gpu::TimedRun& run);
  std::vector<gpu::Workspace*> memory_of(const std::vector<std::size_t>& sets);
  std::size_t programs_ahead(const gpu::TimedRun& run, const Turn& turn) const;
  void run_ahead(const Turn& turn, std::size_t programs, double timeout_s);
  gpu::Timing submit(const gpu::TimedRun& asked, Turn turn, double timeout_s);
  /// Whether one submission of this number of programs may be longer than `longest_ns`.
  bool is_too_long(std::size_t programs) const;
  void note_run(const Turn& turn, std::size_t first, std::size_t programs);
  void write_again(std::size_t set, double timeout_s);
  Audit audit_one(std::size_t set, gpu::AppendedWork* probe, double timeout_s);
  std::vector<std::size_t> written_sets() const;
  std::size_t count_right(const std::vector<std::size_t>& written);
  bool is_right_with_other_data(double timeout_s);
  std::string changed_constant_scratch() const;
  bool has_changed_constant_scratch(const Set& set) const;
  bool have_guards_of_untouched(const std::vector<std::size_t>& sets);
  std::string changes();

  gpu::Executable& executable() { return data_.front().experiment->executable(); }

  gpu::Device* device_;
  gpu::DeviceMemory* memory_;
  std::vector<TimedData> data_;
  SetPlan plan_;
  bool restores_;  ///< programs update an output in place
  std::mt19937_64 chance_;
  Poison poison_;  ///< of all memory, and of the outputs of audited programs
  /// In a cold row first those in rotation, then those that empty the caches.
  std::vector<Set> sets_;
  std::vector<std::size_t> order_;           ///< hot: the sets that programs use, repeated
  std::optional<ColdOrder> cold_order_;      ///< cold
  std::optional<gpu::Workspace> untouched_;  ///< cold: no program uses it
  bool are_caches_empty_ = false;            ///< cold: since memory was filled or poisoned
  std::optional<Recorded> recorded_;
  int submitted_again_ = 0;       ///< how often run_in_window() has submitted it
  std::size_t programs_run_ = 0;  ///< in this block
  std::size_t last_set_ = 0;      ///< the set of the program that ran last
  double longest_ns_;             ///< of a submission
  double program_ns_ = 0;         ///< at most, by the CPU's clock and the newest submission; 0: not known yet
  std::uint64_t memory_bytes_ = 0;
  double verified_pct_ = 0;
  std::string program_hash_;
  std::vector<ConstantScratch> constant_scratch_;  ///< one per data set, of the open block
  std::string changed_scratch_;
  std::string changed_memory_;
};

}  // namespace assay
