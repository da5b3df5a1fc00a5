#include "harness/engine/supervision/device_supervisor.h"

#include "harness/base/hash.h"
#include "harness/base/text.h"
#include "harness/report/record/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

namespace assay {
namespace {

constexpr std::size_t most_remembered = 16;  ///< begun rows that are remembered: more than Retry uses
constexpr std::string_view plan_line = R"({"event":"plan",)";

constexpr const char* changed_while_running =
    "a new worker has other rows: the binary, the case files or the shaders changed during the run";

std::string quoted(std::string_view line) {
  return shortened(printable(line), 80);
}

}  // namespace

double SupervisionLimits::of(Phase phase, double told_s) const {
  const double limit_s = told_s > 0 ? told_s : usual(phase);
  return longest_s > 0 ? std::min(limit_s, longest_s) : limit_s;
}

double SupervisionLimits::usual(Phase phase) const {
  switch (phase) {
    case Phase::Start:
      return start_s;
    case Phase::Ceilings:
      return ceilings_s;
    case Phase::Compile:
    case Phase::Ahead:
      return compile_s;
    case Phase::Dispatch:
      return dispatch_s;
    case Phase::Timing:
      return timing_s;
    case Phase::Host:
    case Phase::Reference:
      return host_s;
  }
  return host_s;
}

/// Passes the journal events of a worker on to the listener.
class DeviceSupervisor::Events final : public RunListener {
 public:
  explicit Events(DeviceSupervisor& owner) : owner_(owner) {}

  void run(const RunInfo& info) override {
    if (owner_.start_.refuse_run && is_refused(owner_.start_.refuse_run(info))) return;
    if (!owner_.now_.is_open && owner_.has_run_ && info.inputs != owner_.inputs_) {
      owner_.have_inputs_changed_ = true;
      return;
    }
    owner_.inputs_ = info.inputs;
    owner_.start_.open.uuid = info.device.uuid;
    if (info.timer.unit_ns > 0) owner_.start_.open.timer = info.timer;
    if (info.ceilings.measured()) owner_.start_.open.ceilings = info.ceilings;
    if (!owner_.has_run_ || owner_.now_.is_open) owner_.listener_.run(info);
    owner_.has_run_ = true;
  }
  void plan(std::span<const RowInfo> rows) override {
    if (owner_.start_.refuse_plan && is_refused(owner_.start_.refuse_plan(rows))) return;
    owner_.plan_size_ = rows.size();
    owner_.baselines_ = baselines_in(rows.size(), [&](RowIndex row) -> const RowInfo& { return rows[row]; });
    if (owner_.left_.wanted.empty()) owner_.left_.wanted.assign(rows.size(), !owner_.start_.more_rows);
    owner_.listener_.plan(rows);
  }
  void begin(RowIndex row) override { owner_.row_begins(row); }
  void judged(RowIndex row, const AccuracyResult& accuracy) override { owner_.row_is_judged(row, accuracy); }
  void block(RowIndex row, const Block& block) override { owner_.row_has_block(row, block); }
  void end(RowIndex row, const RowEnd& end) override { owner_.row_ends(row, end); }
  void done() override {}  // only the worker's rows are done; the run has others

 private:
  bool is_refused(const std::optional<std::string>& why) {
    if (why) owner_.refusal_ = {*why, static_cast<int>(ExitCode::Usage)};
    return why.has_value();
  }

  DeviceSupervisor& owner_;
};

DeviceSupervisor::DeviceSupervisor(Worker& worker, RunListener& listener, SupervisionStart start)
    : worker_(worker), listener_(listener), start_(std::move(start)), left_(std::move(start_.left)) {
  for (const auto& [row, end] : start_.untried) untried_.emplace(row, Retry(row, end, {}));
}

void DeviceSupervisor::join(const DeviceSupervisor& other, const std::vector<RowIndex>& rows) {
  decoder_ = other.decoder_;
  start_.open.uuid = other.start_.open.uuid;
  start_.open.timer = other.start_.open.timer;
  start_.open.ceilings = other.start_.open.ceilings;
  start_.refuse_run = {};
  start_.refuse_plan = {};
  inputs_ = other.inputs_;
  has_run_ = other.has_run_;
  plan_size_ = other.plan_size_;
  plan_hash_ = other.plan_hash_;
  baselines_ = other.baselines_;
  left_.wanted.assign(plan_size_, false);
  for (const RowIndex row : rows) left_.wanted.at(row) = true;
}

void DeviceSupervisor::begin() {
  start_worker();
}

void DeviceSupervisor::begin_with_running_worker() {
  open();
}

void DeviceSupervisor::start_worker() {
  try {
    worker_.start();
  } catch (const Error& error) {  // no free process or descriptor: may work later
    start_failed(error.what());
    return next_worker();
  }
  open();
}

/// Opens the device in a worker that is new or has only sent its devices.
void DeviceSupervisor::open() {
  now_ = {};
  now_.limit_s = start_.limits.of(now_.phase);
  state_ = State::Working;
  worker_.send(encode(WorkerRequest{start_.open}));
}

// --- messages from the worker

void DeviceSupervisor::line(std::string_view line) {
  if (state_ == State::Over || state_ == State::Killed) return;
  now_.silent_s = 0;
  now_.was_heard = true;
  try {
    if (const std::optional<WorkerEvent> event = decode_worker_event(line)) {
      take(*event);
    } else {
      take_journal_line(line);
    }
  } catch (const Error& error) {
    if (error.code() == ExitCode::Infrastructure) throw;  // recording failed
    kill(Status::Crash,
         fmt::format("the worker wrote a line that is not an event ({}): '{}'", error.what(), quoted(line)));
  }
}

void DeviceSupervisor::take_journal_line(std::string_view line) {
  if (is_plan_again(line)) return;
  Events events(*this);
  decoder_->line(line, events);
  if (refusal_) return kill(Status::Crash, refusal_->text);
  if (have_inputs_changed_) return give_up(changed_while_running);
  if (is_end_of_plan(line)) {
    plan_hash_ = now_.plan_hash;
    now_.is_open = true;
    ask_for_next();
  }
}

/// Whether the line is the last one of a plan. Hashes the plan's lines, which are several if it is long.
bool DeviceSupervisor::is_end_of_plan(std::string_view line) {
  if (!line.starts_with(plan_line)) return false;
  now_.plan_hash = hash_hex(now_.plan_hash + std::string(line));
  return !line.ends_with(plan_goes_on);
}

/// Whether the line repeats the plan. A plan is decoded once; a later worker's must be the same.
bool DeviceSupervisor::is_plan_again(std::string_view line) {
  if (plan_hash_.empty() || !line.starts_with(plan_line)) return false;
  if (!is_end_of_plan(line)) return true;
  if (now_.plan_hash != plan_hash_) {
    give_up(changed_while_running);
    return true;
  }
  now_.is_open = true;
  ask_for_next();
  return true;
}

void DeviceSupervisor::take(const WorkerEvent& event) {
  if (const auto* phase = std::get_if<PhaseEvent>(&event)) {
    now_.phase = phase->phase;
    now_.limit_s = start_.limits.of(now_.phase, phase->limit_s);
  } else if (const auto* signal = std::get_if<WorkerSignal>(&event)) {
    take_signal(*signal);
  } else if (const auto* refused = std::get_if<RefusedEvent>(&event)) {
    const bool may_help_to_try_again = refused->code == static_cast<int>(ExitCode::Infrastructure);
    if (plan_size_ == 0 && !may_help_to_try_again) refusal_ = *refused;
    kill(Status::Crash, refused->text);
  } else if (const auto* end = std::get_if<CannotGoOnEvent>(&event)) {
    give_up(end->text);
  } else if (const auto* log = std::get_if<LogEvent>(&event)) {
    if (start_.log) start_.log(log->text);
  }
}

void DeviceSupervisor::take_signal(WorkerSignal signal) {
  switch (signal) {
    case WorkerSignal::Idle:
      take_idle();
      break;
    case WorkerSignal::WantsToTime:
      now_.wants_to_time = true;
      break;
    case WorkerSignal::Timed:
      now_.is_timing = false;
      break;
  }
}

void DeviceSupervisor::take_idle() {
  now_.is_idle = true;
  now_.running.reset();
  if (retry_ && !is_stopping_) settle_retry(retry_->not_reached());
  if (!is_stopping_ && has_rows_left() && !now_.has_ended_one) {
    now_.is_idle = false;
    return kill(Status::Crash, "the worker reported that its rows are done, but ended none of them");
  }
  ask_for_next();
}

void DeviceSupervisor::may_time() {
  now_.wants_to_time = false;
  now_.is_timing = true;
  now_.silent_s = 0;
  worker_.send(encode(WorkerRequest{TimeRequest{}}));
}

// --- requests to the worker

bool DeviceSupervisor::has_rows_left() const {
  return !untried_.empty() || std::ranges::find(left_.wanted, true) != left_.wanted.end();
}

/// Makes the next untried row the row that is tried once more.
void DeviceSupervisor::take_untried() {
  if (retry_ || is_stopping_ || untried_.empty()) return;
  const auto first = untried_.extract(untried_.begin());
  if (first.key() < plan_size_) retry_.emplace(std::move(first.mapped()));
}

void DeviceSupervisor::take_more_rows() {
  if (!start_.more_rows || retry_ || is_stopping_ || has_rows_left()) return;
  for (const RowIndex row : start_.more_rows()) left_.wanted.at(row) = true;
}

void DeviceSupervisor::ask_for_next() {
  if (state_ != State::Working) return;
  take_untried();
  take_more_rows();
  if (is_stopping_ || (!retry_ && !has_rows_left())) {
    state_ = State::Leaving;
    now_.phase = Phase::Host;
    now_.limit_s = start_.limits.leaving_s;
    return worker_.send(encode(WorkerRequest{StopRequest{}}));
  }
  const bool needs_new_process = retry_ && retry_->had_rows_before() && !now_.begun.empty();
  if (needs_new_process) return kill(Status::Interrupted, "to try the row once more, in a new process");
  ask_for_rows();
}

void DeviceSupervisor::ask_for_rows() {
  now_.is_idle = now_.has_ended_one = false;
  now_.tries_again = retry_.has_value();
  now_.phase = Phase::Host;
  now_.limit_s = start_.limits.of(now_.phase);
  if (!retry_) {
    const RowsLeft left = rows_to_ask_for();
    now_.prepares = start_.rows_ahead > 0 && left.may_prepare;
    return worker_.send(encode(WorkerRequest{left}));
  }
  RowsLeft rows;
  rows.may_prepare = now_.prepares = false;
  rows.wanted.assign(plan_size_, false);
  for (const RowIndex row : retry_->rows()) rows.wanted[row] = true;
  const auto progress = left_.progress.find(retry_->row());
  if (!is_silent() && progress != left_.progress.end()) rows.progress.insert(*progress);
  worker_.send(encode(WorkerRequest{rows}));
}

std::optional<RowIndex> DeviceSupervisor::next_alone() const {
  const auto is_left = [&](RowIndex row) { return row < left_.wanted.size() && left_.wanted[row]; };
  const auto found = std::ranges::find_if(start_.alone, is_left);
  return found == start_.alone.end() ? std::nullopt : std::optional(*found);
}

/// The next row that must run alone, else all remaining rows. After a worker was lost because of prepared
/// rows, first only those that it may have prepared, one by one.
RowsLeft DeviceSupervisor::rows_to_ask_for() {
  RowsLeft rows = left_;
  if (const std::optional<RowIndex> alone = next_alone()) {
    rows.wanted.assign(rows.wanted.size(), false);
    rows.wanted[*alone] = true;
    rows.may_prepare = false;
    return rows;
  }
  if (careful_until_) {
    for (RowIndex row = *careful_until_; row < rows.wanted.size(); ++row) rows.wanted[row] = false;
    const bool are_over = std::ranges::find(rows.wanted, true) == rows.wanted.end();
    if (are_over) {
      careful_until_.reset();
      rows = left_;
    }
  }
  rows.may_prepare = !careful_until_ && lost_ahead_in_a_row_ < start_.limits.failures_in_a_row;
  return rows;
}

void DeviceSupervisor::stop() {
  if (std::exchange(is_stopping_, true) || state_ != State::Working) return;
  if (!now_.is_open || retry_) return kill(Status::Interrupted, std::string(stopped_because));
  now_.wants_to_time = false;  // its request to time is void
  worker_.send(encode(WorkerRequest{StopRequest{}}));
}

// --- results of rows

void DeviceSupervisor::row_begins(RowIndex row) {
  now_.running = row;
  if (std::ranges::find(now_.begun, row) == now_.begun.end()) now_.begun.push_back(row);
  if (now_.begun.size() > most_remembered) now_.begun.pop_front();
  if (!is_silent()) listener_.begin(row);
}

/// Whether events are dropped, because the current row has run before. What a worker tells after the end of
/// the row that it was to try again is about rows that ran only before that one.
bool DeviceSupervisor::is_silent() const {
  return retry_ ? retry_->is_silent() : now_.tries_again;
}

/// Whether the current worker was asked for a second try that has not been settled.
bool DeviceSupervisor::is_trying_again() const {
  return retry_ && now_.tries_again;
}

/// Whether the row's end counts as that of its first try: its worker was asked for it, and it has not ended.
bool DeviceSupervisor::is_first_try(RowIndex row) const {
  if (now_.tries_again || untried_.contains(row) || (retry_ && retry_->row() == row)) return false;
  return row < left_.wanted.size() && left_.wanted[row];
}

void DeviceSupervisor::row_is_judged(RowIndex row, const AccuracyResult& accuracy) {
  if (is_silent()) return;
  RowProgress& progress = left_.progress[row];
  if (!blocks_still_count(progress.output_hash, accuracy.output_hash)) progress.blocks.clear();
  progress.output_hash = accuracy.output_hash;
  listener_.judged(row, accuracy);
}

void DeviceSupervisor::row_has_block(RowIndex row, const Block& block) {
  if (is_silent()) return;
  has_progress();
  left_.progress[row].blocks.push_back(block);
  listener_.block(row, block);
}

void DeviceSupervisor::end_row(RowIndex row, const RowEnd& end) {
  left_.wanted[row] = false;
  if (!baselines_.contains(row)) left_.progress.erase(row);
  now_.has_ended_one = true;
  listener_.end(row, end);
}

void DeviceSupervisor::row_ends(RowIndex row, const RowEnd& end) {
  if (end.status == Status::Missing) return;  // not run by this worker: another one may
  if (now_.running == row) now_.running.reset();
  if (is_lost(end.status)) {
    has_progress();
    now_.lost_by = row;
    // The row that is tried again may have been timed together with this one, and its own end may follow.
    if (is_trying_again() && row != retry_->row()) return;
    return row_is_lost(row, end.status, end.reason);
  }
  if (is_trying_again() && row == retry_->row()) return tried_row_ends(end);
  if (!is_first_try(row)) return;  // not requested, or one that ended before, again
  has_progress();
  // A row that was timed together with a lost one may end after it: the worker is lost all the same.
  failures_in_a_row_ = now_.lost_by ? 1 : 0;
  end_row(row, end);
}

void DeviceSupervisor::tried_row_ends(const RowEnd& end) {
  has_progress();
  failures_in_a_row_ = 0;
  if (const std::optional<RowEnd> verdict = retry_->ended(end)) return settle_retry(*verdict);
  kill(Status::Interrupted, "to try the row after others, in a new process");
}

void DeviceSupervisor::settle_retry(const RowEnd& verdict) {
  const RowIndex row = retry_->row();
  retry_.reset();
  end_row(row, verdict);
}

/// Settles the second try because its worker is lost.
void DeviceSupervisor::settle_lost_retry(const RowEnd& verdict) {
  now_.is_failure_counted = true;  // when the row was lost for the first time
  settle_retry(verdict);
}

/// Handles a row whose worker ends or has ended. One worker may lose several rows that it timed together.
void DeviceSupervisor::row_is_lost(RowIndex row, Status status, const std::string& reason) {
  if (is_trying_again())
    return settle_lost_retry(row == retry_->row() ? retry_->lost_again(reason) : retry_->not_reached());
  if (!std::exchange(now_.is_failure_counted, true)) ++failures_in_a_row_;
  if (!is_first_try(row)) return;
  const RowEnd end{.status = status, .reason = reason};
  careful_until_.reset();  // the next worker shows whether preparing is safe
  lost_ahead_in_a_row_ = 0;
  if (is_stopping_) return end_row(row, end);
  // Its end is reported after the second try; until then it counts as running.
  untried_.emplace(row, Retry(row, end, {now_.begun.begin(), now_.begun.end()}));
  take_untried();
}

// --- the end of a worker

void DeviceSupervisor::kill(Status status, std::string why) {
  now_.killed_as = status;
  now_.killed_because = std::move(why);
  state_ = State::Killed;
  now_.limit_s = start_.limits.reaping_s;
  now_.silent_s = 0;
  now_.wants_to_time = now_.is_timing = false;
  worker_.kill();
}

void DeviceSupervisor::time_passed(double seconds) {
  // A supervisor that was itself suspended has received nothing either, and a clock may jump.
  constexpr double longest_step_s = 5;
  if (state_ == State::Over || now_.wants_to_time || (now_.is_idle && state_ == State::Working)) return;
  if (connections_lost_ > 0) connecting_s_ += std::clamp(seconds, 0.0, longest_step_s);
  if (std::exchange(now_.was_heard, false)) return;  // the time may have passed before the message
  now_.silent_s += std::clamp(seconds, 0.0, longest_step_s);
  if (now_.silent_s <= now_.limit_s) return;
  if (state_ == State::Killed) {
    const std::string why = fmt::format(
        "{} has not ended {:g} s after SIGKILL: it waits for the device in the kernel, so the device is "
        "given up",
        worker_.name(), start_.limits.reaping_s);
    if (now_.running)
      row_is_lost(*now_.running, now_.killed_as.value_or(Status::Timeout), now_.killed_because + "; " + why);
    return give_up(why);
  }
  kill(Status::Timeout,
       fmt::format("the worker sent nothing for {:.3g} s {}", now_.limit_s, story_of(now_.phase)));
}

void DeviceSupervisor::ended(const ChildEnd& end) {
  if (state_ == State::Over) return;
  if (state_ == State::Leaving) return finish();
  const bool was_killed = state_ == State::Killed;
  if (refusal_) return be_over();  // nothing was run, so nothing is recorded
  // Another row was lost, and the end of the one that is tried again did not follow.
  if (is_trying_again() && now_.lost_by) settle_lost_retry(retry_->not_reached());
  if (is_connection_lost(end)) return connection_is_lost();
  if (was_lost_ahead(end)) return go_on_carefully(end);
  state_ = State::Working;
  if (was_killed) return worker_is_gone(*now_.killed_as, now_.killed_because);
  std::string what = fmt::format("the worker {} {}", to_string(end), story_of(now_.phase));
  if (end.any_signal() == SIGKILL) what += " (by the kernel when memory ran out, or by a user)";
  worker_is_gone(Status::Crash, what);
}

/// Whether the worker's end cannot be blamed on the running row: a preparing thread ended the process, or it
/// was killed from outside, perhaps for its use of memory. A crash in the row itself ends by its own signal.
bool DeviceSupervisor::was_lost_ahead(const ChildEnd& end) const {
  if (!now_.prepares || now_.is_idle || now_.lost_by || is_stopping_) return false;
  if (state_ == State::Killed) return now_.killed_as == Status::Timeout && now_.phase == Phase::Ahead;
  return !end.any_signal() || end.any_signal() == SIGKILL;
}

void DeviceSupervisor::go_on_carefully(const ChildEnd& end) {
  state_ = State::Working;
  ++lost_ahead_in_a_row_;
  RowIndex until = now_.begun.empty() ? 0 : *std::ranges::max_element(now_.begun);
  for (std::size_t rows = 0; until < left_.wanted.size() && rows <= start_.rows_ahead; ++until)
    rows += left_.wanted[until] ? 1 : 0;
  careful_until_ = until;
  if (start_.log) {
    const std::string what = fmt::format("the worker {} while it prepared rows ahead", to_string(end));
    start_.log(with_last_words(what, worker_) + "; the next worker prepares no rows ahead\n");
  }
  next_worker();
}

/// A worker that was killed because it was silent may have been silent because of its connection.
bool DeviceSupervisor::is_connection_lost(const ChildEnd& end) const {
  return end.signal == 0 && end.exit_code == exit_connection_lost && now_.killed_as != Status::Crash;
}

/// The running row, or its second try, is run again from where it was.
void DeviceSupervisor::connection_is_lost() {
  state_ = State::Working;
  ++connections_lost_;
  if (start_.log && !is_stopping_)
    start_.log("the connection to the worker was lost; its rows continue in a new worker\n");
  const bool is_hopeless =
      connecting_s_ > start_.limits.connecting_s && connections_lost_ >= start_.limits.least_losses;
  if (is_hopeless && !is_stopping_) leave_out_running_row();
  next_worker();
}

void DeviceSupervisor::leave_out_running_row() {
  const std::string why = fmt::format("the connection to the worker was lost {} times in {:.0f} s",
                                      connections_lost_, connecting_s_);
  has_progress();
  if (!retry_ && (!now_.running || now_.lost_by)) return start_failed(why);
  ++failures_in_a_row_;
  if (retry_) return settle_retry(retry_->not_reached());
  end_row(*now_.running, {.status = Status::Missing,
                          .reason = "not run to its end: " + why + ", and no row ended in between"});
}

/// The connection works for as long as a row or a block takes.
void DeviceSupervisor::has_progress() {
  connections_lost_ = 0;
  connecting_s_ = 0;
}

void DeviceSupervisor::worker_is_gone(Status status, const std::string& why) {
  if (is_stopping_ && status == Status::Interrupted) return finish();
  if (now_.running && status != Status::Interrupted) {
    row_is_lost(*now_.running, status, with_last_words(why, worker_));
  } else if (!now_.lost_by && !now_.is_idle && !is_stopping_ && status != Status::Interrupted) {
    start_failed(why);
  }
  next_worker();
}

/// Handles a worker that ended while no row ran: before its first row, or between two rows.
void DeviceSupervisor::start_failed(const std::string& why) {
  ++failures_in_a_row_;
  if (start_.log) start_.log(with_last_words(why, worker_) + "; no row was running\n");
  if (plan_size_ > 0 || failures_in_a_row_ < start_.limits.failures_in_a_row) return;
  refusal_ = {fmt::format("opening the device failed {} times; the last time {}", failures_in_a_row_,
                          with_last_words(why, worker_)),
              static_cast<int>(ExitCode::Infrastructure)};
}

void DeviceSupervisor::next_worker() {
  if (is_stopping_) return finish();
  if (refusal_) return be_over();
  if (failures_in_a_row_ >= start_.limits.failures_in_a_row)
    return give_up(fmt::format("the device failed {} times in a row", failures_in_a_row_));
  if (now_.is_open) take_more_rows();
  if (!retry_ && now_.is_open && !has_rows_left()) return finish();
  start_worker();
}

void DeviceSupervisor::give_up(std::string why) {
  given_up_ = std::move(why);
  if (retry_) settle_retry(retry_->not_reached());
  end_missing_rows(given_up_);
  worker_.kill();
  be_over();
}

void DeviceSupervisor::end_without_running(const std::string& why) {
  end_missing_rows(why);
  be_over();
}

void DeviceSupervisor::be_over() {
  state_ = State::Over;
  now_.wants_to_time = now_.is_timing = false;
}

void DeviceSupervisor::end_missing_rows(const std::string& why) {
  for (RowIndex row = 0; row < left_.wanted.size(); ++row) {
    if (!left_.wanted[row]) continue;
    if (const auto lost = untried_.find(row); lost != untried_.end()) {
      listener_.end(row, lost->second.first());
      continue;
    }
    const char* how_far = left_.progress.contains(row) ? "its timing did not finish" : "not run";
    const RowEnd missing{.status = Status::Missing,
                         .reason = fmt::format("{}: {}", how_far, why),
                         .stopped = why == stopped_because};
    if (start_.give_back) {
      start_.give_back(row, missing);
    } else {
      listener_.end(row, missing);
    }
  }
}

void DeviceSupervisor::finish() {
  if (retry_) settle_retry(retry_->not_reached());
  end_missing_rows(std::string(stopped_because));
  be_over();
}

}  // namespace assay
