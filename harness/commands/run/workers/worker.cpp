#include "harness/commands/run/workers/worker.h"

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/names.h"
#include "harness/base/parallel.h"
#include "harness/base/text.h"
#include "harness/cases/expansion/load.h"
#include "harness/cases/select.h"
#include "harness/commands/context.h"
#include "harness/commands/loaded_cases.h"
#include "harness/commands/run/setup/device_session.h"
#include "harness/commands/run/setup/engine_options.h"
#include "harness/commands/run/setup/run_inputs.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/supervision/protocol.h"
#include "harness/gpu/gpu.h"
#include "harness/report/record/row_end.h"
#include "harness/report/record/run_info.h"
#include "harness/report/record/run_listener.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace assay::app {
namespace {

/// Skips the exit handlers of drivers, some of which wait for a device that hangs.
[[noreturn]] void leave_without_supervisor() {
  ::_exit(static_cast<int>(ExitCode::Infrastructure));
}

constexpr Names<12> kinds{"segfault",      "abort",        "exit",        "kill",
                          "host-loop",     "compile-loop", "device-loop", "device-lost",
                          "out-of-memory", "garbage",      "half-line",   "flood"};

[[noreturn]] void loop_for_ever() {
  for (;;) sleep_for_seconds(1);
}

/// Simulates a driver or kernel that prints more than anyone reads.
void write_flood() {
  const std::string line(999, '.');
  for (int i = 0; i < 100'000; ++i) std::cerr << line << '\n';
}

constexpr std::array crash_signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/// The previous action of each signal.
std::array<struct sigaction, crash_signals.size()>& actions_before() {
  static std::array<struct sigaction, crash_signals.size()> actions{};
  return actions;
}

/// Async-signal-safe. In a thread that is not in the background, restores the previous action and raises the
/// signal again.
void take_signal(int signal) {
  if (is_in_background()) ::_exit(exit_lost_ahead);
  for (std::size_t i = 0; i < crash_signals.size(); ++i) {
    if (crash_signals[i] == signal) ::sigaction(signal, &actions_before()[i], nullptr);
  }
  ::raise(signal);
}

/// From now on a crash of a background thread (harness/base/parallel.h) ends this process with an exit code
/// of its own for the supervisor: a signal would be blamed on the row that is running. Crashes of other
/// threads end the process as before.
void exit_when_lost_ahead() {
  for (std::size_t i = 0; i < crash_signals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = take_signal;
    action.sa_flags = SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    ::sigaction(crash_signals[i], &action, &actions_before()[i]);
  }
}

/// Sends the journal's events to the supervisor.
class WorkerEvents final : public EventLines {
 public:
  explicit WorkerEvents(WorkerOutput& output) : output_(output) {}

  void line(std::string_view line) override { output_.line(line); }

 private:
  WorkerOutput& output_;
};

/// Passes on all events except the ends of rows that this worker does not reach: the supervisor ends these,
/// as another worker may run them.
class WorkerListener final : public ForwardedEvents {
 public:
  WorkerListener(WorkerEvents& lines, WorkerOutput& output, std::span<InjectedFault> faults)
      : ForwardedEvents(lines), output_(output), faults_(faults) {}

  void plan(std::span<const RowInfo> rows) override {
    for (const RowInfo& row : rows) ids_.push_back(row.id);
    ForwardedEvents::plan(rows);
  }
  void begin(RowIndex row) override {
    ForwardedEvents::begin(row);
    for (InjectedFault& fault : faults_) fault.begin(ids_.at(row), output_);
  }
  void end(RowIndex row, const RowEnd& end) override {
    if (end.status == Status::Missing) return;
    ForwardedEvents::end(row, end);
    must_leave_ = must_leave_ || end.status == Status::Timeout || end.status == Status::DeviceLost;
  }
  void done() override {}

  /// Whether a row was lost with the device, or hung on it: it could affect rows that run here later.
  bool must_leave() const { return must_leave_; }

 private:
  WorkerOutput& output_;
  std::span<InjectedFault> faults_;
  std::vector<std::string> ids_;
  bool must_leave_ = false;
};

/// Text for people, which the supervisor prints whenever the stream is flushed.
class LogBuffer final : public std::stringbuf {
 public:
  explicit LogBuffer(WorkerOutput& output) : output_(output) {}
  int sync() override {
    if (!view().empty()) output_.tell(LogEvent{str()});
    str({});
    return 0;
  }

 private:
  WorkerOutput& output_;
};

/// The main loop of a worker process.
class WorkerMain {
 public:
  explicit WorkerMain(Context context)
      : context_(std::move(context)), log_buffer_(output_), log_(&log_buffer_) {}

  [[noreturn]] void run() {
    try {
      while (const std::optional<WorkerRequest> request = input_.next()) take(*request);
      leave(ExitCode::Fine);
    } catch (const Error& error) {
      refuse(error.what(), error.code());
    } catch (const std::exception& error) {
      refuse(std::string("internal error: ") + error.what(), ExitCode::Infrastructure);
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& why, ExitCode code) {
    output_.tell(RefusedEvent{why, static_cast<int>(code)});
    leave(code);
  }

  void take(const WorkerRequest& request) {
    if (const auto* open = std::get_if<OpenRequest>(&request)) {
      take_open(*open);
    } else if (const auto* rows = std::get_if<RowsLeft>(&request)) {
      take_rows(*rows);
    }
  }

  void take_open(const OpenRequest& open) {
    if (!devices_) read_options(open);
    if (open.only_devices) return tell_devices();
    limit_parallel_threads(open.jobs);
    load_cases(open.shard);
    SessionParts parts{.options = options_,
                       .context = *with_ops_,
                       .devices = *devices_,
                       .selected = selected_,
                       .expectations = expectations_,
                       .run_id = open.run_id,
                       .shard = open.shard,
                       .secret_seed = open.secret_seed,
                       .inputs = run_inputs(options_, loaded_),
                       .log = log_,
                       .stop_requested = [this] { return must_stop(); }};
    RunDevices::Opened& chosen = device_of(open);
    devices_->open(chosen);  // the session makes it ready, which the supervisor watches
    chosen.device->watch_phases([this](Phase phase, double limit_s) { take_phase(phase, limit_s); });
    session_ = std::make_unique<DeviceSession>(parts, chosen);
    session_->engine().preparing_threads = preparing_threads(options_, open.jobs);
    session_->engine().before_timing = [this] { wait_for_turn(); };
    session_->engine().after_timing = [this] { output_.tell(WorkerSignal::Timed); };
    lines_ = std::make_unique<WorkerEvents>(output_);  // a new plan counts its rows from 0
    listener_ = std::make_unique<WorkerListener>(*lines_, output_, faults_);
    session_->tell(*listener_, {open.timer, open.ceilings});
    log_.flush();
  }

  void read_options(const OpenRequest& open) {
    if (!open.directory.empty() && ::chdir(open.directory.c_str()) != 0) {
      throw Error("a worker cannot change to the folder '" + open.directory +
                      "': " + std::generic_category().message(errno),
                  ExitCode::Infrastructure);
    }
    options_ = context_.parse_run(open.command);
    context_.command_line = open.command;
    for (const std::string& fault : options_.injected_faults) faults_.emplace_back(fault);
    devices_ = std::make_unique<RunDevices>(options_);
  }

  /// Errors in the files are discarded here: the supervisor, which reads them too, reports them.
  void load_cases(const ShardInfo& shard) {
    std::ostringstream told;
    with_ops_.emplace(with_ops(context_, options_.cases.op_folders));
    loaded_ = load_and_complain(options_.cases, with_ops_->registry, told);
    selected_ = selected_cases(options_.cases, loaded_.cases);
    if (shard.is_part()) selected_ = cases_of_shard(selected_, planned_groups(options_, selected_), shard);
    expectations_ = load_expectations(options_.cases.expectation_files()).expectations;
  }

  RunDevices::Opened& device_of(const OpenRequest& open) {
    for (RunDevices::Opened& opened : devices_->opened()) {
      if (!open.uuid.empty() && opened.info.uuid == open.uuid) return opened;
    }
    if (!open.uuid.empty())
      throw Error("the device with UUID " + open.uuid + " is no longer there", ExitCode::Infrastructure);
    if (open.device >= devices_->opened().size())
      throw Error("the command line chooses fewer devices than before", ExitCode::Infrastructure);
    return devices_->opened()[open.device];
  }

  void tell_devices() {
    DevicesEvent event;
    for (const RunDevices::Opened& opened : devices_->opened())
      event.devices.push_back({opened.info, opened.slug});
    output_.tell(event);
  }

  void take_rows(const RowsLeft& rows) {
    if (!session_) throw Error("rows are asked for before a device is open");
    const std::string no_dump_because = session_->run(rows);
    log_.flush();
    if (!no_dump_because.empty()) {
      output_.tell(CannotGoOnEvent{no_dump_because});
      leave(ExitCode::Infrastructure);
    }
    if (must_stop() && !input_.stop_requested()) leave(ExitCode::Infrastructure);
    output_.tell(WorkerSignal::Idle);
  }

  /// Ends the process immediately, as everything has been sent: destructors and drivers' exit handlers may
  /// wait for a lost device, or (NVIDIA 580) for ten seconds while another thread reads stdin.
  [[noreturn]] static void leave(ExitCode code) { ::_exit(static_cast<int>(code)); }

  bool must_stop() const {
    return input_.stop_requested() || (listener_ && listener_->must_leave()) ||
           (session_ && !session_->device().alive());
  }

  void take_phase(Phase phase, double limit_s) {
    output_.tell(PhaseEvent{phase, limit_s});
    for (const InjectedFault& fault : faults_) fault.phase(phase);
  }

  /// Waits until this worker may time: only one worker of a machine does at any moment.
  void wait_for_turn() {
    output_.tell(WorkerSignal::WantsToTime);
    const std::optional<WorkerRequest> turn = input_.next();
    if (turn && !std::holds_alternative<TimeRequest>(*turn))
      throw Error("a worker waits for its turn to time, but got another request");
  }

  Context context_;
  std::optional<Context> with_ops_;  ///< outlives the cases
  WorkerOutput output_;
  WorkerInput input_;
  LogBuffer log_buffer_;
  std::ostream log_;
  RunOptions options_;
  std::vector<InjectedFault> faults_;
  std::unique_ptr<RunDevices> devices_;
  LoadResult loaded_;
  std::vector<const Case*> selected_;
  Expectations expectations_;
  std::unique_ptr<WorkerEvents> lines_;
  std::unique_ptr<WorkerListener> listener_;
  std::unique_ptr<DeviceSession> session_;
};

}  // namespace

/// Programs that the worker starts do not have it: what they write there would be events.
WorkerOutput::WorkerOutput() : fd_(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) {
  if (fd_ < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    throw_file_error("open the pipe to the supervisor", "stdout", errno);
}

WorkerOutput::~WorkerOutput() {
  ::close(fd_);
}

void WorkerOutput::line(std::string_view line) {
  text(std::string(line) + '\n');
}

void WorkerOutput::text(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (write_bytes(fd_, text) != text.size()) leave_without_supervisor();
}

WorkerInput::WorkerInput() {
  std::thread([this] { listen(); }).detach();  // it ends with the process, which may hang anywhere
}

void WorkerInput::listen() {
  std::string line;
  while (std::getline(std::cin, line)) take(line);
  leave_without_supervisor();
}

void WorkerInput::take(const std::string& line) {
  const bool is_stop = line == encode(WorkerRequest{StopRequest{}});
  {
    const std::lock_guard lock(mutex_);
    if (is_stop) {
      stop_ = true;
    } else {
      lines_.push_back(line);
    }
  }
  changed_.notify_all();
}

std::optional<WorkerRequest> WorkerInput::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stop_ || !lines_.empty(); });
  if (stop_) return std::nullopt;
  const std::string line = std::move(lines_.front());
  lines_.pop_front();
  lock.unlock();
  return decode_request(line);
}

InjectedFault::InjectedFault(const std::string& text) {
  if (text.empty()) return;
  const std::size_t at = text.find('@');
  const std::optional<FaultKind> kind = value_in<FaultKind>(kinds, text.substr(0, at));
  if (!kind || at == text.npos || at + 1 == text.size()) {
    throw Error(
        fmt::format("--inject-fault '{:.60}' is not KIND@GLOB with a glob over ids and one of the kinds {}",
                    text, fmt::join(kinds, ", ")));
  }
  kind_ = *kind;
  glob_ = text.substr(at + 1);
}

bool InjectedFault::is_of(std::string_view id) const {
  return !glob_.empty() && glob_matches(glob_, id);
}

void InjectedFault::begin(std::string_view id, WorkerOutput& output) {
  is_on_ = is_of(id);
  if (!is_on_) return;
  switch (kind_) {
    case FaultKind::Segfault:
      std::signal(SIGSEGV, SIG_DFL);
      std::raise(SIGSEGV);
      break;
    case FaultKind::Abort:
      std::abort();
    case FaultKind::Exit:
      ::_exit(0);
    case FaultKind::Kill:
      ::kill(::getpid(), SIGKILL);
      break;
    case FaultKind::HostLoop:
      loop_for_ever();
    case FaultKind::Garbage:
      output.line("\x1b[31mgarbage");
      break;
    case FaultKind::HalfLine:
      output.text(R"({"event":"beg)");
      ::_exit(0);
    case FaultKind::Flood:
      write_flood();
      break;
    case FaultKind::CompileLoop:
    case FaultKind::DeviceLoop:
    case FaultKind::DeviceLost:
    case FaultKind::OutOfMemory:
      break;  // injected in phase()
  }
}

void InjectedFault::phase(Phase phase) const {
  if (!is_on_) return;
  if (kind_ == FaultKind::CompileLoop && phase == Phase::Compile) loop_for_ever();
  if (phase != Phase::Dispatch) return;
  if (kind_ == FaultKind::DeviceLoop) loop_for_ever();
  if (kind_ == FaultKind::DeviceLost) throw gpu::DeviceLost("injected: VK_ERROR_DEVICE_LOST");
  if (kind_ == FaultKind::OutOfMemory) throw gpu::OutOfMemory("injected: VK_ERROR_OUT_OF_DEVICE_MEMORY");
}

void limit_memory(const std::string& gib) {
  char* end = nullptr;
  const double number = std::strtod(gib.c_str(), &end);
  if (gib.empty() || *end != '\0' || !(number > 0) || number > 1e6)
    throw Error("limiting a worker's memory: '" + gib + "' is not a number of GiB");
  constexpr double gib_bytes = 1 << 30;
  const auto bytes = static_cast<rlim_t>(number * gib_bytes);
  const rlimit limit{bytes, bytes};
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) {
    throw Error("limiting a worker's memory to " + gib + " GiB: " + std::generic_category().message(errno),
                ExitCode::Infrastructure);
  }
}

void serve_worker(const Context& context) {
  // Slurm and systemd stop a run by signalling all of its processes. The supervisor then stops the workers:
  // if the signal ended a worker directly, its row would be a CRASH.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  exit_when_lost_ahead();
  WorkerMain(context).run();
}

}  // namespace assay::app
