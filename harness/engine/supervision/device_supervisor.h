#pragma once

#include "harness/base/child_process.h"
#include "harness/engine/supervision/protocol.h"
#include "harness/engine/supervision/retry.h"
#include "harness/engine/supervision/worker_process.h"
#include "harness/report/journal/codec.h"
#include "harness/report/record/accuracy_result.h"
#include "harness/report/record/block.h"
#include "harness/report/record/row_end.h"
#include "harness/report/record/run_info.h"
#include "harness/report/record/run_listener.h"

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

/// How long a worker may be silent in each phase, in seconds, before it counts as hanging, and how failures
/// are handled. A limit that a phase states itself takes precedence.
struct SupervisionLimits {
  double start_s = 120;
  double ceilings_s = 300;
  double host_s = 300;
  double compile_s = 120;
  double dispatch_s = 120;
  double timing_s = 300;
  double leaving_s = 2;       ///< a worker without work that does not exit in this time is killed
  double reaping_s = 10;      ///< a killed worker that has not ended by then counts as stuck
  double longest_s = 0;       ///< more than 0: an upper limit for every phase, whatever it states
  int failures_in_a_row = 3;  ///< of workers before the device is given up
  /// How long the connection to a worker may be lost again and again, without a row or a block of samples
  /// that ended in between, before the row that is running each time is left out.
  double connecting_s = 600;
  int least_losses = 5;  ///< of the connection in that time

  /// The limit of a phase in seconds. `told_s` is the limit that the phase states; 0: none.
  double of(Phase phase, double told_s = 0) const;

 private:
  double usual(Phase phase) const;
};

/// The settings and the work of a supervisor.
struct SupervisionStart {
  OpenRequest open;
  SupervisionLimits limits;
  /// The largest number of rows that a worker prepares before their turn; 0: none.
  std::size_t rows_ahead = 0;
  /// The rows that an earlier run left; empty `wanted`: run all rows of the plan.
  RowsLeft left;
  /// Rows that run before all others, each by itself: no other row is begun or prepared until it has ended.
  std::vector<RowIndex> alone;
  /// For supervisors that share a device's rows: returns further rows when this supervisor has none left,
  /// until there are no more. Empty: it runs all of `left` and nothing else.
  std::function<std::vector<RowIndex>()> more_rows;
  /// For such supervisors too: takes back each row that this supervisor did not run, with the end that the
  /// row gets if no other one runs it. Empty: the listener gets that end. A row that was left out because the
  /// connection was lost in it again and again is not given back: another worker would lose it as well.
  std::function<void(RowIndex, const RowEnd&)> give_back;
  /// Rows that cost an earlier run a worker, and how they ended; that run stopped before their second try,
  /// which is made first of all. They are not in `left`.
  std::map<RowIndex, RowEnd> untried;
  /// Returns why a worker cannot be used, such as another device, another binary or other case files; nothing
  /// when it can.
  std::function<std::optional<std::string>(const RunInfo&)> refuse_run;
  std::function<std::optional<std::string>(std::span<const RowInfo>)> refuse_plan;
  std::function<void(const std::string&)> log;  ///< prints text for people; may be empty
};

/// Runs the rows of one device in worker processes, one after another, so that a crash costs only the row
/// that was running. It does no I/O of its own except through Worker and the listener, and reads no clock:
/// its owner passes in the worker's lines, its end, and the time.
///
/// A row whose worker crashed, hung or lost its device ends as CRASH, TIMEOUT or DEVICE_LOST and is then
/// tried once more alone in a new process, see Retry; so is each of several rows that one worker lost because
/// they were timed together, one after the other. A worker that is lost because of rows it prepared ahead
/// costs no row: the next worker does not prepare, so that the faulty row fails in its own turn. After
/// `failures_in_a_row` lost workers without a row that ended in between, the device is given up; its
/// remaining rows are MISSING. So are they, and the row that was running, if a worker says that it cannot go
/// on.
///
/// A lost connection to a worker (exit_connection_lost) costs nothing: a new worker continues where the last
/// one was, however often. Only a row that is running whenever the connection is lost, for `connecting_s`, is
/// MISSING; that counts as a lost worker.
class DeviceSupervisor {
 public:
  /// `worker` and `listener` must outlive this object. `listener` gets the rows' events as from a run in this
  /// process, except done().
  DeviceSupervisor(Worker& worker, RunListener& listener, SupervisionStart start);

  /// Call before begin(): makes this supervisor run these rows of the plan that another supervisor of the
  /// device has received. The listener already knows the run and its plan; this worker's must be the same.
  void join(const DeviceSupervisor& other, const std::vector<RowIndex>& rows);

  /// begin() starts the first worker, or a further one if SupervisionStart::more_rows has rows again after
  /// this supervisor was over without being given up; begin_with_running_worker() uses one that already runs
  /// and has sent its devices.
  void begin();
  void begin_with_running_worker();

  /// Takes a line that the worker wrote to stdout, without its line end.
  void line(std::string_view line);
  /// Reports that the worker has ended; all of its lines must have been passed in before.
  void ended(const ChildEnd& end);
  /// Reports that `seconds` have passed since the last call.
  void time_passed(double seconds);
  /// Stops the run: the row that is running is finished, no further row begins.
  void stop();
  /// Ends all rows as MISSING for this reason, without running them.
  void end_without_running(const std::string& why);

  bool wants_to_time() const { return now_.wants_to_time; }
  bool is_timing() const { return now_.is_timing; }
  /// Lets the worker time its rows; no other worker on this machine may be timing.
  void may_time();

  bool has_plan() const { return !plan_hash_.empty(); }
  bool is_stopping() const { return is_stopping_; }
  /// Whether no worker runs: every row has ended or never will, or the supervisor has not begun.
  bool is_over() const { return state_ == State::Over; }
  /// Why nothing could be run at all: the first worker's message and exit code. Empty: rows could be run.
  const std::optional<RefusedEvent>& refusal() const { return refusal_; }
  /// Why the device was given up, or a worker could not go on; empty: neither.
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
  bool is_end_of_plan(std::string_view line);
  RowsLeft rows_to_ask_for();
  std::optional<RowIndex> next_alone() const;
  bool was_lost_ahead(const ChildEnd& end) const;
  void go_on_carefully(const ChildEnd& end);

  void row_begins(RowIndex row);
  void row_is_judged(RowIndex row, const AccuracyResult& accuracy);
  void row_has_block(RowIndex row, const Block& block);
  void row_ends(RowIndex row, const RowEnd& end);
  void tried_row_ends(const RowEnd& end);
  void settle_retry(const RowEnd& verdict);
  void settle_lost_retry(const RowEnd& verdict);
  void end_row(RowIndex row, const RowEnd& end);

  void kill(Status status, std::string why);
  void worker_is_gone(Status status, const std::string& why);
  bool is_connection_lost(const ChildEnd& end) const;
  void connection_is_lost();
  void leave_out_running_row();
  void has_progress();
  void row_is_lost(RowIndex row, Status status, const std::string& reason);
  void start_failed(const std::string& why);
  void next_worker();
  void give_up(std::string why);
  void be_over();
  void end_missing_rows(const std::string& why);
  void finish();
  /// Whether there is work for a worker besides the current second try.
  bool has_rows_left() const;
  bool is_silent() const;
  bool is_trying_again() const;
  bool is_first_try(RowIndex row) const;

  /// The state of the current worker.
  struct Current {
    std::optional<RowIndex> running;
    std::optional<RowIndex> lost_by;  ///< a row whose end makes its worker exit
    std::deque<RowIndex> begun;       ///< the most recent rows, in the order in which they first began
    double limit_s = 0;
    double silent_s = 0;
    std::string killed_because;
    std::optional<Status> killed_as;
    std::string plan_hash;  ///< of the lines of its plan so far
    Phase phase = Phase::Start;
    bool is_open = false;  ///< it has sent its plan
    bool is_idle = false;
    bool prepares = false;            ///< it prepares rows before their turn
    bool has_ended_one = false;       ///< it has ended a row of the last request
    bool tries_again = false;         ///< the last request was for a second try
    bool is_failure_counted = false;  ///< its loss is in failures_in_a_row_, or must not be
    bool was_heard = false;           ///< it sent a line since the last time_passed()
    bool wants_to_time = false;
    bool is_timing = false;
  };

  Worker& worker_;
  RunListener& listener_;
  SupervisionStart start_;
  /// Shared by all workers: they have one plan.
  std::shared_ptr<Decoder> decoder_ = std::make_shared<Decoder>();
  Current now_;

  std::map<std::string, std::string> inputs_;  ///< inputs of the run: later workers must have the same
  std::size_t plan_size_ = 0;
  std::string plan_hash_;
  std::set<RowIndex> baselines_;  ///< rows with which others are compared
  RowsLeft left_;                 ///< `wanted` holds the rows that have not ended
  /// Rows whose second try comes after the current one: those of SupervisionStart::untried, and those that
  /// one worker lost together. The latter are still `wanted`, as their end has not been reported.
  std::map<RowIndex, Retry> untried_;

  std::optional<Retry> retry_;
  std::string given_up_;
  std::optional<RefusedEvent> refusal_;
  int failures_in_a_row_ = 0;
  /// Losses of the connection since a row or a block last ended, and the time since the first of them.
  int connections_lost_ = 0;
  double connecting_s_ = 0;
  std::optional<RowIndex> careful_until_;  ///< until this row no rows are prepared ahead
  /// Workers lost while preparing, with no row lost in its turn since.
  int lost_ahead_in_a_row_ = 0;
  State state_ = State::Over;  ///< until it begins
  bool has_run_ = false;
  bool have_inputs_changed_ = false;
  bool is_stopping_ = false;
};

}  // namespace assay
