#pragma once

#include "harness/base/child_process.h"
#include "harness/engine/workers/protocol.h"
#include "harness/engine/workers/retry.h"
#include "harness/engine/workers/worker.h"
#include "harness/report/record/codec.h"
#include "harness/report/record/events.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// How long a worker may be silent in each phase before it hangs, in seconds; a phase that says how long it
/// takes at most goes before. And what is done about failures.
struct SupervisionLimits {
  double start_s = 120;
  double ceilings_s = 300;
  double host_s = 300;
  double compile_s = 120;
  double dispatch_s = 120;
  double timing_s = 300;
  double leaving_s = 2;       ///< a worker that has nothing more to do and does not exit is killed
  double reaping_s = 10;      ///< a killed worker that has not ended then never will
  double longest_s = 0;       ///< more than 0: no phase takes longer, whatever it says
  int failures_in_a_row = 3;  ///< of workers, before the device is given up

  /// `told_s`: how long the phase says that it takes at most; 0: it does not.
  double of(Phase phase, double told_s = 0) const;

 private:
  double usual(Phase phase) const;
};

/// What a supervisor starts with.
struct SupervisionStart {
  OpenRequest open;
  SupervisionLimits limits;
  /// Rows that a worker prepares before it is their turn, at most; 0: it never does.
  std::size_t rows_ahead = 0;
  /// What an earlier run has left; empty `wanted`: it is not known before the plan, and all rows are to be
  /// run.
  RowsLeft left;
  /// Where supervisors share the rows of a device: those that this one is to run when it has none left, again
  /// and again until there are none. Empty: it runs all of `left`, and no others.
  std::function<std::vector<RowIndex>()> more_rows;
  /// Rows that an earlier run has lost a worker with, and how they ended then: that run was ended before
  /// their second try, which is made first of all. `left` does not want them.
  std::map<RowIndex, RowEnd> untried;
  /// Why a worker that opened with this cannot be used: another device, another binary, other case files.
  std::function<std::optional<std::string>(const RunInfo&)> refuse_run;
  std::function<std::optional<std::string>(std::span<const RowInfo>)> refuse_plan;
  std::function<void(const std::string&)> log;  ///< text for people, printed as it is; may be empty
};

/// Runs the rows of one device through workers, one process after another: what a process does to itself
/// costs the row that it ran. It does no I/O of its own but through Worker and the listener, and knows the
/// time only as it is told: whoever owns it brings it what the worker says and when it ended.
///
/// A row whose worker crashed, hung or lost its device ends as CRASH, TIMEOUT or DEVICE_LOST, then is tried
/// once more alone in a new process, see Retry. A worker that is lost with what it prepared ahead costs no
/// row: the next one goes on without preparing, so that the row that was prepared is lost in its own turn.
/// After `failures_in_a_row` of them without a row that ended in between the device is given up; its other
/// rows are MISSING.
class DeviceSupervisor {
 public:
  /// Both must outlive this. `listener` is told the rows' events as a run in this process would tell them,
  /// but for done().
  DeviceSupervisor(Worker& worker, RunListener& listener, SupervisionStart start);

  /// Before it begins: it runs these rows of the plan that another supervisor of the device has been told of.
  /// The listener knows the run and its plan; workers must have the same.
  void join(const DeviceSupervisor& other, const std::vector<RowIndex>& rows);

  /// Starts the first worker; one that runs already, and has told its devices, is gone on with.
  void begin();
  void begin_with_running_worker();

  /// What the worker has written to stdout, a line without its end.
  void line(std::string_view line);
  /// The worker has ended, and everything that it wrote has been told.
  void ended(const ChildEnd& end);
  /// `seconds` have passed since this was told last.
  void time_passed(double seconds);
  /// The run is to stop: the row that runs comes to its end.
  void stop();
  /// Ends all of its rows as MISSING, for this reason, instead of running them.
  void end_without_running(const std::string& why);

  bool wants_to_time() const { return now_.wants_to_time; }
  bool is_timing() const { return now_.is_timing; }
  /// It is its turn to time: no other worker on this machine does.
  void may_time();

  bool has_plan() const { return !plan_hash_.empty(); }
  bool is_stopping() const { return is_stopping_; }
  /// No worker runs: every row has ended or never will, or it has not begun.
  bool is_over() const { return state_ == State::Over; }
  /// Why nothing could be run at all: what the first worker said, with its exit code. Empty: it could.
  const std::optional<RefusedEvent>& refusal() const { return refusal_; }
  /// Why the device was given up; empty: it was not.
  const std::string& given_up() const { return given_up_; }

 private:
  enum class State : std::uint8_t { Working, Leaving, Killed, Over };
  class Events;

  void start_worker();
  void open();
  void ask_for_rows();
  void take_untried();
  void take_more_rows();
  void ask_for_next();
  void take(const WorkerEvent& event);
  void take_signal(WorkerSignal signal);
  void take_idle();
  void take_journal_line(std::string_view line);
  bool is_plan_again(std::string_view line);
  RowsLeft rows_to_ask_for();
  bool was_lost_ahead(const ChildEnd& end) const;
  void go_on_carefully(const ChildEnd& end);

  void row_begins(RowIndex row);
  void row_is_judged(RowIndex row, const AccuracyResult& accuracy);
  void row_has_block(RowIndex row, const Block& block);
  void row_ends(RowIndex row, const RowEnd& end);
  void settle_retry(const RowEnd& verdict);
  void end_row(RowIndex row, const RowEnd& end);

  void kill(Status status, std::string why);
  void worker_is_gone(Status status, const std::string& why);
  void row_is_lost(RowIndex row, Status status, const std::string& reason);
  void start_failed(const std::string& why);
  void next_worker();
  void give_up(std::string why);
  void be_over();
  void end_missing_rows(const std::string& why);
  void finish();
  /// Whether a worker has anything to do but the second try that is on.
  bool has_rows_left() const;
  bool is_silent() const;

  /// What is known of the worker that runs.
  struct Current {
    std::optional<RowIndex> running;
    std::optional<RowIndex> lost_by;  ///< a row that ended as one whose worker exits then
    std::deque<RowIndex> begun;       ///< the newest, in the order in which they began first
    double limit_s = 0;
    double silent_s = 0;
    std::string killed_because;
    std::optional<Status> killed_as;
    Phase phase = Phase::Start;
    bool is_open = false;  ///< it has told its plan
    bool is_idle = false;
    bool prepares = false;       ///< rows whose turn is yet to come
    bool has_ended_one = false;  ///< of the rows that it was asked for last
    bool was_heard = false;      ///< since time passed last
    bool wants_to_time = false;
    bool is_timing = false;
  };

  Worker& worker_;
  RunListener& listener_;
  SupervisionStart start_;
  std::shared_ptr<Decoder> decoder_ = std::make_shared<Decoder>();  ///< of all workers' lines: one plan
  Current now_;

  std::map<std::string, std::string> inputs_;  ///< of the run: later workers must have the same
  std::size_t plan_size_ = 0;
  std::string plan_hash_;
  std::set<RowIndex> baselines_;        ///< rows that others are compared with
  RowsLeft left_;                       ///< `wanted`: not ended
  std::map<RowIndex, RowEnd> untried_;  ///< as SupervisionStart, those that had no second try yet

  std::optional<Retry> retry_;
  std::string given_up_;
  std::optional<RefusedEvent> refusal_;
  int failures_in_a_row_ = 0;
  std::optional<RowIndex> careful_until_;  ///< rows before it are run without preparing any
  int lost_ahead_in_a_row_ = 0;            ///< workers that were, and no row was lost in its turn since
  State state_ = State::Over;              ///< until it begins
  bool has_run_ = false;
  bool have_inputs_changed_ = false;
  bool is_stopping_ = false;
};

}  // namespace assay
