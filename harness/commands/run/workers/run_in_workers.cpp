#include "harness/commands/run/workers/run_in_workers.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/commands/run/output/device_output.h"
#include "harness/commands/run/setup/engine_options.h"
#include "harness/commands/run/setup/run_inputs.h"
#include "harness/engine/run/row_preparation.h"
#include "harness/engine/supervision/device_workers.h"
#include "harness/report/journal/report_builder.h"
#include "harness/report/record/rows_to_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <thread>
#include <utility>

namespace assay::app {

namespace {

constexpr std::size_t most_workers = 8;
constexpr std::size_t groups_a_worker = 4;  ///< minimum: fewer are not worth a process

}  // namespace

WorkerCount count_of_workers(const WorkerCountParts& parts) {
  if (parts.asked > 0 && !parts.is_cpu) {
    if (parts.asked == 1) return {};
    return {.note = fmt::format("it is not a CPU, so its rows run in one worker, not in {}", parts.asked)};
  }
  if (parts.asked > 0)
    return {.workers = std::clamp<std::size_t>(parts.groups, 1, static_cast<std::size_t>(parts.asked))};
  if (!parts.is_cpu || parts.is_elsewhere) return {};
  const std::size_t most = std::clamp<std::size_t>(parts.cores, 1, most_workers);
  return {.workers = std::clamp<std::size_t>(parts.groups / groups_a_worker, 1, most)};
}

std::size_t accuracy_rows_left(const ReportBuilder& journal) {
  std::size_t rows = 0;
  for (RowIndex row = 0; row < journal.rows(); ++row)
    rows += journal.info(row).mode == "accu" && !journal.events(row).is_finished() ? 1 : 0;
  return rows;
}

namespace {

/// One device of the run: its output, and the workers that run its rows.
struct DeviceInWorker {
  std::unique_ptr<DeviceOutput> output;
  std::vector<std::unique_ptr<WorkerProcess>> processes;
  std::unique_ptr<DeviceWorkers> workers;
};

class RunInWorkers {
 public:
  explicit RunInWorkers(const WorkersRun& run) : run_(run) {}

  void run() {
    std::unique_ptr<WorkerProcess> first = new_process();
    const std::vector<ChosenDevice> devices = devices_of(*first);
    run_.devices_known(devices);
    std::vector<std::string> slugs;
    for (const ChosenDevice& device : devices) slugs.push_back(device.slug);
    run_.output.folder.make(slugs);
    for (std::size_t i = 0; i < devices.size(); ++i)
      add(devices, i, i == 0 ? std::move(first) : new_process());
    run_all();
    conclude();
  }

 private:
  std::unique_ptr<WorkerProcess> new_process() const {
    const RunOptions& options = run_.output.options;
    return std::make_unique<WorkerProcess>(
        options.worker_command.empty() ? run_.context.worker : shell_command(options.worker_command),
        [this](std::string_view text) { run_.output.terminal.log << printable(text) << std::flush; });
  }

  OpenRequest request() const {
    OpenRequest open{.command = run_.context.command_line,
                     .run_id = run_.output.folder.run_id(),
                     .shard = run_.shard,
                     .secret_seed = run_.secret_seed};
    if (run_.output.options.worker_command.empty()) open.directory = std::filesystem::current_path().string();
    return open;
  }

  /// Asks a new process for the list of devices. If it does not answer, tries again as often as a device may
  /// fail.
  std::vector<ChosenDevice> devices_of(WorkerProcess& process) const {
    const SupervisionLimits limits{.longest_s = run_.output.options.hang_limit_s};
    const double limit_s = limits.of(Phase::Start);
    std::string why;
    for (int i = 0; i < limits.failures_in_a_row; ++i) {
      process.start();
      OpenRequest open = request();
      open.only_devices = true;
      process.send(encode(WorkerRequest{open}));
      const auto log = [this](const std::string& text) {
        run_.output.terminal.log << printable(text) << std::flush;
      };
      const FirstLine first = first_line(process, limit_s, run_.stop_requested, log);
      if (run_.stop_requested && run_.stop_requested())
        throw Error("interrupted before a device was open: nothing was run", ExitCode::Infrastructure);
      if (first.line && (!first.end || is_refusal(*first.line))) return devices_in(*first.line);
      why = with_last_words(
          "the worker " + (first.end ? to_string(*first.end) : fmt::format("was silent for {:g} s", limit_s)),
          process);
    }
    throw Error(fmt::format("starting a worker failed {} times: {}", limits.failures_in_a_row, why),
                ExitCode::Infrastructure);
  }

  static std::vector<ChosenDevice> devices_in(const std::string& line) {
    const std::optional<WorkerEvent> event = event_in(line);
    if (event && std::holds_alternative<CannotGoOnEvent>(*event))
      throw Error(std::get<CannotGoOnEvent>(*event).text, ExitCode::Infrastructure);
    if (event && std::holds_alternative<RefusedEvent>(*event)) {
      const auto& refused = std::get<RefusedEvent>(*event);
      throw Error(refused.text, static_cast<ExitCode>(refused.code));
    }
    if (!event || !std::holds_alternative<DevicesEvent>(*event)) throw_no_answer(line, "it names no devices");
    std::vector<ChosenDevice> devices = std::get<DevicesEvent>(*event).devices;
    std::set<std::string> slugs;
    for (const ChosenDevice& device : devices) slugs.insert(device.slug);
    // A slug becomes the name of a folder.
    if (devices.empty() || slugs.size() != devices.size() || !std::ranges::all_of(slugs, is_slug))
      throw_no_answer(line, "its devices have no unique names");
    return devices;
  }

  /// Whether it is no use to start another worker.
  static bool is_refusal(const std::string& line) {
    const std::optional<WorkerEvent> event = event_in(line);
    return event &&
           (std::holds_alternative<CannotGoOnEvent>(*event) || std::holds_alternative<RefusedEvent>(*event));
  }

  static std::optional<WorkerEvent> event_in(const std::string& line) try {
    return decode_worker_event(line);
  } catch (const Error& error) {
    throw_no_answer(line, error.what());
  }

  [[noreturn]] static void throw_no_answer(const std::string& line, const std::string& why) {
    throw Error(fmt::format("asking a worker for its devices: it answered '{}', but {}; is it another "
                            "version of assay, or does something else print to its stdout?",
                            shortened(printable(line), 80), why),
                ExitCode::Infrastructure);
  }

  static bool is_slug(const std::string& text) {
    return !text.empty() &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  }

  void add(std::span<const ChosenDevice> devices, std::size_t index, std::unique_ptr<WorkerProcess> process) {
    DeviceInWorker& made = devices_.emplace_back();
    made.output = std::make_unique<DeviceOutput>(run_.output, devices[index], index == 0);
    made.processes.push_back(std::move(process));
    const std::size_t workers = workers_on(devices[index].info, *made.output);
    while (made.processes.size() < workers) made.processes.push_back(new_process());
    SupervisionStart start{.open = request()};
    start.limits.longest_s = run_.output.options.hang_limit_s;
    start.open.device = index;
    start.open.uuid = devices[index].info.uuid;
    start.open.jobs = jobs_of_each(devices.size(), 1);
    if (preparing_threads(run_.output.options, start.open.jobs) > 0) start.rows_ahead = most_rows_ahead;
    start.log = [output = made.output.get()](const std::string& text) { output->log() << printable(text); };
    DeviceWorkersStart all{.jobs_side_by_side = jobs_of_each(devices.size(), workers)};
    if (made.output->has_run()) {
      resume(start, made.output->so_far());
      all.suspected = suspected_rows(made.output->so_far());
    }
    all.supervision = std::move(start);
    std::vector<Worker*> handled;
    for (const auto& one : made.processes) handled.push_back(one.get());
    made.workers = std::make_unique<DeviceWorkers>(handled, made.output->listener(), std::move(all));
  }

  std::size_t workers_on(const DeviceInfo& device, DeviceOutput& output) const {
    const RunOptions& options = run_.output.options;
    const WorkerCount count = count_of_workers({.asked = options.workers,
                                                .is_cpu = device.is_cpu(),
                                                .is_elsewhere = !options.worker_command.empty(),
                                                .cores = std::thread::hardware_concurrency(),
                                                .groups = accuracy_groups_left(output)});
    if (!count.note.empty()) output.log() << printable(device.name) << ": " << count.note << '\n';
    return count.workers;
  }

  std::size_t accuracy_groups_left(const DeviceOutput& output) const {
    if (!output.has_plan()) return run_.accuracy_groups;
    return std::min(run_.accuracy_groups, accuracy_rows_left(output.so_far()));
  }

  /// Threads for references in each worker: for a single one, as many as the CPU has, unless the command line
  /// gives a number.
  int jobs_of_each(std::size_t devices, std::size_t workers) const {
    const int asked = run_.output.options.jobs;
    const std::size_t parts = devices * workers;
    if (asked == 0 && parts == 1) return 0;
    const int all = asked > 0 ? asked : static_cast<int>(std::thread::hardware_concurrency());
    return std::max(1, all / static_cast<int>(parts));
  }

  /// Sets up resuming: the new workers must have the journal's plan.
  static void resume(SupervisionStart& start, const ReportBuilder& journal) {
    if (journal.has_plan()) {
      start.left = rows_left(journal);
      start.untried = untried_rows(journal);
      start.alone = rows_to_run_alone(journal);
    }
    start.open.timer = known_timer(journal);
    if (start.open.timer) start.open.ceilings = journal.run().ceilings;
    start.refuse_run = [&journal](const RunInfo& now) { return refuse_other_run(journal.run(), now); };
    start.refuse_plan = [&journal](std::span<const RowInfo> now) { return refuse_other_plan(journal, now); };
  }

  static std::optional<TimerCalibration> known_timer(const ReportBuilder& journal) {
    const TimerCalibration& timer = journal.run().timer;
    return timer.unit_ns > 0 ? std::optional(timer) : std::nullopt;
  }

  void run_all() {
    std::vector<SupervisedDevice> supervised;
    for (const DeviceInWorker& device : devices_) {
      for (const auto& [worker, supervisor] : device.workers->supervised())
        supervised.push_back({device.processes[worker].get(), supervisor});
      if (&device == &devices_.front()) {
        device.workers->begin_with_running_worker();
      } else {
        device.workers->begin();
      }
    }
    supervise(supervised, run_.stop_requested, [this] {
      for (const DeviceInWorker& device : devices_) device.workers->go_on();
    });
  }

  /// Writes the results of all devices before an error of one of them is thrown.
  void conclude() {
    std::optional<Error> failure;
    for (const DeviceInWorker& device : devices_) {
      const auto& refusal = device.workers->refusal();
      if (!refusal && device.output->has_plan()) {
        run_.conclude(*device.output);
      } else if (!refusal && run_.output.failures.is_reached()) {
        device.output->log() << "nothing was run: --max-failures was reached before it was open\n";
      } else if (!failure) {
        failure = refusal ? Error(refusal->text, static_cast<ExitCode>(refusal->code))
                          : Error("interrupted before the device was open: nothing was run on it",
                                  ExitCode::Infrastructure);
      }
      device.output->show();
    }
    if (failure) throw Error(*failure);
  }

  const WorkersRun& run_;
  std::vector<DeviceInWorker> devices_;
};

}  // namespace

void run_in_workers(const WorkersRun& run) {
  RunInWorkers(run).run();
}

}  // namespace assay::app
