#pragma once

#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/run/device_context.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/row_plan.h"
#include "harness/report/record/rows_left.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace assay {

/// Rows that are prepared before it is their turn, at most.
inline constexpr std::size_t most_rows_ahead = 128;

/// Threads that prepare rows before it is their turn: they compile what the rows run, which the device keeps,
/// and make the data of their groups. It changes nothing but when things are done: what fails here is done
/// again when the row itself needs it, and is then told as the row's.
class RowPreparation {
 public:
  /// Host memory that data sets take which no row has taken yet, at most; one of more is not made ahead.
  static constexpr std::size_t most_bytes = std::size_t{1} << 30;

  /// All must outlive this, the ceilings apart. `threads`: 1 or more.
  RowPreparation(const DeviceContext& context, std::span<const PlannedGroup> groups, const RowsLeft& left,
                 int threads);
  /// Waits for what the threads are at.
  ~RowPreparation();
  RowPreparation(const RowPreparation&) = delete;
  RowPreparation& operator=(const RowPreparation&) = delete;

  /// It is this row's turn: it and those before it are not for these threads any more.
  void reached(RowIndex row);

  /// The data of a group, once: waits where they are being made. Nothing where they are not, or cannot be.
  std::optional<DataSet> take_data(std::size_t group);
  std::optional<DataSet> take_secret_data(std::size_t group);

  /// While rows are timed: on a device that is the CPU nothing is prepared then, and what is being prepared
  /// is waited for; else half of the CPU stays idle.
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
    RowIndex row = 0;       ///< from when on it is of no use
    std::size_t index = 0;  ///< of the row in its group
  };
  enum class State : std::uint8_t { Wanted, Making, Done };
  /// A data set of a group.
  struct Slot {
    State state = State::Wanted;
    std::size_t bytes = 0;  ///< about
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
  bool will_run(const PlannedRow& row) const;
  const PlannedRow* first_that_runs(const Job& job) const;
  RowPlan plan_of(const PlannedRow& row) const;
  std::optional<DataSet> take(Slot& slot);
  void forget(Slot& slot);

  const DeviceContext& context_;
  std::span<const PlannedGroup> groups_;
  const RowsLeft& left_;
  const Ceilings ceilings_;  ///< those of the context may be measured again meanwhile

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Job> jobs_;
  std::vector<bool> is_taken_;   ///< of each job
  std::size_t first_open_ = 0;   ///< jobs before it are taken
  std::vector<Slots> slots_;     ///< of each group
  std::size_t first_group_ = 0;  ///< groups before it have had their turn
  std::vector<RowIndex> first_rows_;
  RowIndex reached_ = 0;
  std::size_t bytes_ = 0;
  int busy_ = 0;
  int most_busy_;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace assay
