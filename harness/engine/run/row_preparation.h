#pragma once

#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/run/device_context.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/row_plan.h"
#include "harness/report/record/rows_to_run.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace assay {

/// The largest number of rows that are prepared before their turn.
inline constexpr std::size_t most_rows_ahead = 128;

/// The largest size in bytes of all prepared data sets that no row has taken yet; a larger data set is not
/// made ahead: a sixteenth of the memory of a machine with GPUs, each of which may have a worker, but at
/// least 1 GiB, which is also the limit on a CPU device, and at most 8.
std::size_t most_bytes_ahead(bool is_cpu_device, std::uint64_t memory_bytes);

/// The bytes that a data set keeps of each element of an output: its value, and what its class needs besides
/// (Expected).
std::size_t bytes_of_answer(const TensorSpec& output);

/// Threads that prepare rows before their turn: they compile the rows' pipelines, which the device keeps, and
/// make the data of their groups. This changes only when work is done: work that fails here is repeated when
/// the row itself needs it, and is then reported as the row's failure.
class RowPreparation {
 public:
  /// All arguments must outlive this object; the context's ceilings are copied. `threads`: 1 or more.
  RowPreparation(const DeviceContext& context, std::span<const PlannedGroup> groups, const RowsLeft& left,
                 int threads);
  /// Waits until the threads have finished their current work.
  ~RowPreparation();
  RowPreparation(const RowPreparation&) = delete;
  RowPreparation& operator=(const RowPreparation&) = delete;

  /// Reports that this row's turn has come: the threads no longer prepare it or earlier rows.
  void reached(RowIndex row);

  /// Hands over the data of a group; waits if they are being made. Nothing if they were not made or could not
  /// be.
  std::optional<DataSet> take_data(std::size_t group);
  std::optional<DataSet> take_secret_data(std::size_t group);

  /// Restricts preparation while rows are timed. On a device that is the CPU nothing is prepared meanwhile,
  /// and the constructor waits for work in progress; on other devices a quarter of the CPU stays idle.
  class Hush {
   public:
    explicit Hush(RowPreparation& owner);
    ~Hush();
    Hush(const Hush&) = delete;
    Hush& operator=(const Hush&) = delete;

   private:
    RowPreparation& owner_;
  };

 private:
  enum class Kind : std::uint8_t { Data, Row, Secret };
  struct Job {
    Kind kind = Kind::Row;
    std::size_t group = 0;
    RowIndex row = 0;       ///< the job is useless once this row's turn has come
    std::size_t index = 0;  ///< index of the row in its group
  };
  enum class State : std::uint8_t { Wanted, Making, Done };
  /// A data set of a group.
  struct Slot {
    State state = State::Wanted;
    std::size_t bytes = 0;  ///< estimate
    std::optional<DataSet> data;
  };
  struct Slots {
    Slot own;
    Slot secret;
  };

  void list_jobs(const RowsLeft& left);
  std::size_t bytes_of_data(const PlannedGroup& group) const;
  Slot& slot_of(const Job& job);
  void work();
  std::optional<std::size_t> next_job() const;
  bool may_begin(const Job& job) const;
  void run(std::size_t job);
  std::optional<DataSet> made(const Job& job) const;
  void prepare_row(const PlannedRow& row) const;
  const PlannedRow* first_that_runs(const Job& job) const;
  RowPlan plan_of(const PlannedRow& row) const;
  std::optional<DataSet> take(Slot& slot);
  void forget(Slot& slot);

  const DeviceContext& context_;
  std::span<const PlannedGroup> groups_;
  const RowsLeft& left_;
  const Ceilings ceilings_;  ///< a copy: the context's may be measured again meanwhile
  const std::size_t most_bytes_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Job> jobs_;
  std::vector<bool> is_taken_;   ///< one per job
  std::size_t first_open_ = 0;   ///< jobs before it are taken
  std::vector<Slots> slots_;     ///< one per group
  std::size_t first_group_ = 0;  ///< groups before it have had their turn
  std::vector<RowIndex> first_rows_;
  RowIndex reached_ = 0;
  std::size_t bytes_ = 0;
  int busy_ = 0;
  int most_busy_;
  /// Rows that wait for data which are being made. No other work begins meanwhile: threads that end theirs
  /// help to make these (parallel_for).
  int awaited_ = 0;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace assay
