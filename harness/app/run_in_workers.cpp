#include "harness/app/run_in_workers.h"

#include "harness/app/device_output.h"
#include "harness/app/resume.h"
#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/engine/workers/supervise.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

namespace assay::app {
namespace {

/// One device of the run: what is written, and who runs its rows.
struct DeviceInWorker {
  std::unique_ptr<DeviceOutput> output;
  std::unique_ptr<WorkerProcess> process;
  std::unique_ptr<DeviceSupervisor> supervisor;
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
    OpenRequest open{.command = run_.context.command_line, .run_id = run_.output.folder.run_id()};
    if (run_.output.options.worker_command.empty()) open.directory = std::filesystem::current_path().string();
    return open;
  }

  /// Asks a new process which devices there are. What fails is tried again as often as a device may fail.
  std::vector<ChosenDevice> devices_of(WorkerProcess& process) const {
    const SupervisionLimits limits;
    std::string why;
    for (int i = 0; i < limits.failures_in_a_row; ++i) {
      process.start();
      OpenRequest open = request();
      open.only_devices = true;
      process.send(encode(WorkerRequest{open}));
      const FirstLine first = first_line(process, limits.start_s, run_.stop_requested);
      if (run_.stop_requested && run_.stop_requested()) break;
      if (first.line) {
        if (const auto devices = devices_in(*first.line, why)) return *devices;
      } else {
        why = first.end ? "the worker " + to_string(*first.end) : "the worker was silent";
        if (const std::string words = process.last_words(); !words.empty())
          why += "; its last words: " + words;
      }
    }
    throw Error(why.empty()
                    ? "interrupted before a device was open: nothing was run"
                    : fmt::format("starting a worker failed {} times: {}", limits.failures_in_a_row, why),
                ExitCode::Infrastructure);
  }

  /// Nothing where another try may help.
  static std::optional<std::vector<ChosenDevice>> devices_in(const std::string& line, std::string& why) try {
    const std::optional<WorkerEvent> event = decode_worker_event(line);
    if (event && std::holds_alternative<DevicesEvent>(*event)) return std::get<DevicesEvent>(*event).devices;
    const auto* refused = event ? std::get_if<RefusedEvent>(&*event) : nullptr;
    why = refused != nullptr ? refused->text
                             : "the worker said something else: " + shortened(printable(line), 80);
    const int code = refused != nullptr ? refused->code : static_cast<int>(ExitCode::Infrastructure);
    if (code != static_cast<int>(ExitCode::Infrastructure)) throw Refused{why, static_cast<ExitCode>(code)};
    return std::nullopt;
  } catch (const Refused& refused) {
    throw Error(refused.why, refused.code);
  } catch (const Error& error) {
    why = fmt::format("the worker wrote a line that is no event ({}): {}", error.what(),
                      shortened(printable(line), 80));
    return std::nullopt;
  }

  void add(std::span<const ChosenDevice> devices, std::size_t index, std::unique_ptr<WorkerProcess> process) {
    DeviceInWorker& made = devices_.emplace_back();
    made.output = std::make_unique<DeviceOutput>(run_.output, devices[index], index == 0);
    made.process = std::move(process);
    SupervisionStart start{.open = request()};
    start.limits.longest_s = run_.output.options.hang_limit_s;
    start.open.device = index;
    start.open.uuid = devices[index].info.uuid;
    const int workers = static_cast<int>(devices.size());
    if (run_.output.options.jobs > 0) start.open.jobs = std::max(1, run_.output.options.jobs / workers);
    start.log = [output = made.output.get()](const std::string& text) {
      output->log() << printable(text) << '\n';
    };
    if (made.output->has_plan()) resume(start, made.output->recorder().so_far());
    made.supervisor =
        std::make_unique<DeviceSupervisor>(*made.process, made.output->listener(), std::move(start));
  }

  /// The new workers must have the journal's plan.
  static void resume(SupervisionStart& start, const ReportBuilder& journal) {
    start.left = rows_left(journal);
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
      supervised.push_back({device.process.get(), device.supervisor.get()});
      if (supervised.size() == 1) {
        device.supervisor->begin_with_running_worker();
      } else {
        device.supervisor->begin();
      }
    }
    supervise(supervised, run_.stop_requested);
  }

  void conclude() {
    for (const DeviceInWorker& device : devices_) {
      if (const auto& refusal = device.supervisor->refusal())
        throw Error(refusal->text, static_cast<ExitCode>(refusal->code));
    }
    for (const DeviceInWorker& device : devices_) {
      run_.conclude(*device.output);
      device.output->show();
    }
  }

  struct Refused {
    std::string why;
    ExitCode code;
  };

  const WorkersRun& run_;
  std::vector<DeviceInWorker> devices_;
};

}  // namespace

void run_in_workers(const WorkersRun& run) {
  RunInWorkers(run).run();
}

}  // namespace assay::app
