#include "harness/cli/run_once.h"

#include "harness/app/recorder.h"
#include "harness/cases/expectations.h"
#include "harness/engine/ceilings/ceiling_store.h"
#include "harness/engine/run/device_run.h"
#include "harness/engine/run/run_info.h"
#include "harness/report/console/ceilings_text.h"
#include "harness/report/record/exit_code.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "build_info.h"
#include <algorithm>
#include <iostream>
#include <regex>
#include <set>

namespace assay::cli {
namespace {

/// Blocks of a row, at least. Two runs of one program must not look different: with 7 blocks a side the
/// medians of equals lie further apart than all blocks of either once in some ten thousand rows, with 5 once
/// in some hundred.
constexpr int standard_blocks = 7;

/// Blocks of rows that are compared, at least: the interval of the ratio then covers 97 %, where 5
/// would give 93 and one comparison of equals in 16 would show a difference.
constexpr int compared_blocks = 10;

/// What clock probes beside one row differ by on a CPU that nobody disturbs.
constexpr double cpu_clock_tolerance = 0.15;

/// Length of a GPU's samples: long against what a submission costs the host, so that most of a run is
/// measured.
constexpr double gpu_sample_ns = 3.5e6;

/// What a repro line must repeat to meet the same device; the folder of shaders is told by the row.
std::string repro_options(const RunOptions& options) {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : " ") + words; };
  for (const std::string& device : options.devices) add(fmt::format("--device '{}'", device));
  if (options.cases.seed) add(fmt::format("--seed {}", *options.cases.seed));
  if (options.validation) add("--validation");
  return text;
}

std::optional<std::string> name_of_folder(const std::filesystem::path& folder) {
  return folder.empty() ? std::nullopt : std::optional(folder.string());
}

gpu::ShaderOptions shader_options(const std::filesystem::path& folder) {
  gpu::ShaderOptions options{.cache_directory = gpu::default_cache_directory()};
  if (!folder.empty()) options.directories.push_back(folder);
  return options;
}

std::vector<RowInfo> plan_of(const std::vector<PlannedGroup>& groups, const RowNames& names) {
  std::vector<RowInfo> plan;
  for (const PlannedGroup& group : groups) {
    for (const PlannedRow& row : group) plan.push_back(row_info(row, names));
  }
  return plan;
}

bool has_perf(const std::vector<PlannedGroup>& groups) {
  return std::any_of(groups.begin(), groups.end(), [](const PlannedGroup& group) {
    return std::any_of(group.begin(), group.end(),
                       [](const PlannedRow& row) { return row.mode == Mode::Perf; });
  });
}

/// A comparison that would compare nothing is a mistake of the command line.
void refuse_empty_comparison(const RunOptions& options, const std::vector<PlannedGroup>& groups) {
  if (options.versus_shaders.empty() && options.baseline_impl.empty()) return;
  if (!has_perf(groups)) {
    throw Error(
        "choosing what to compare: no row of mode perf is selected, and only times are compared; "
        "`assay list --long` shows the mode of each case");
  }
  if (options.baseline_impl.empty()) return;
  std::set<std::string> impls;
  for (const PlannedGroup& group : groups) {
    for (const PlannedRow& row : group) {
      if (row.mode == Mode::Perf) impls.insert(row.test_case->impl->name);
    }
  }
  if (impls.contains(options.baseline_impl)) return;
  throw Error(fmt::format("choosing a baseline: no selected row of mode perf has impl '{}'; there are: {}",
                          options.baseline_impl, fmt::join(impls, ", ")));
}

void refuse_wrong_device(const RunOptions& options, const gpu::Instance& instance,
                         const std::vector<std::size_t>& chosen) {
  if (options.expect_device.empty()) return;
  std::regex wanted;
  try {
    wanted = std::regex(options.expect_device, std::regex::icase);
  } catch (const std::regex_error& error) {
    throw Error(fmt::format("--expect-device '{}' is no regular expression: {}", options.expect_device,
                            error.what()));
  }
  for (const std::size_t index : chosen) {
    const std::string& name = instance.devices()[index].name;
    if (std::regex_search(name, wanted)) continue;
    throw Error(fmt::format("wrong device: '{}' is chosen, --expect-device wants '{}'; nothing was run", name,
                            options.expect_device),
                ExitCode::Infrastructure);
  }
}

/// Asks whether to go on before a row begins; tells the rest to another listener.
class Interruptible final : public RunListener {
 public:
  Interruptible(RunListener& listener, const std::function<void()>& before_a_row)
      : listener_(listener), before_a_row_(before_a_row) {}

  void run(const RunInfo& info) override { listener_.run(info); }
  void plan(std::span<const RowInfo> cases) override { listener_.plan(cases); }
  void begin(RowIndex row) override {
    if (before_a_row_) before_a_row_();
    listener_.begin(row);
  }
  void judged(RowIndex row, const AccuracyResult& accuracy) override { listener_.judged(row, accuracy); }
  void block(RowIndex row, const Block& block) override { listener_.block(row, block); }
  void end(RowIndex row, const RowEnd& end) override { listener_.end(row, end); }
  void done() override { listener_.done(); }

 private:
  RunListener& listener_;
  const std::function<void()>& before_a_row_;
};

/// One run of a selection: everything that its devices share.
class Run {
 public:
  Run(const RunOptions& options, const Context& context, const RunDesk& desk)
      : options_(options),
        context_(context),
        desk_(desk),
        loaded_(load_and_complain(options.cases, context.registry)),
        selected_(select(loaded_.cases, options.cases.selection())),
        groups_(plan_rows(selected_, options.cases.selection().mode, !options.versus_shaders.empty())) {}

  RunOutcome run(std::unique_ptr<RunDevices>& devices) {
    RunOutcome outcome{.files = loaded_.files};
    if (selected_.empty() || groups_.empty()) {
      if (loaded_.errors.empty()) throw_nothing_selected();
      outcome.code = ExitCode::Usage;
      return outcome;
    }
    refuse_empty_comparison(options_, groups_);
    load_expectation_rules(outcome);
    if (!devices) devices = std::make_unique<RunDevices>(options_);
    for (RunDevices::Opened& opened : devices->opened()) {
      outcome.reports.push_back(run_device(devices->instance(), opened));
      outcome.code = std::max(outcome.code, exit_code(outcome.reports.back()));
    }
    if (outcome.code != ExitCode::Infrastructure && !loaded_.errors.empty()) outcome.code = ExitCode::Usage;
    return outcome;
  }

 private:
  [[noreturn]] void throw_nothing_selected() const {
    throw Error(fmt::format("choosing cases: none of {} is selected; `assay list` shows their ids",
                            loaded_.cases.size()));
  }

  void load_expectation_rules(RunOutcome& outcome) {
    const std::vector<std::filesystem::path> files = find_expectations(options_.cases.paths());
    outcome.files.insert(outcome.files.end(), files.begin(), files.end());
    ExpectationsResult result = load_expectations(files);
    for (const Diagnostic& error : result.errors) {
      std::cerr << to_string(error) << '\n';
      loaded_.errors.push_back(error);
    }
    expectations_ = std::move(result.expectations);
  }

  RunReport run_device(gpu::Instance& instance, RunDevices::Opened& opened) {
    gpu::Device& device = *opened.device;
    gpu::ShaderLibrary shaders(shader_options(options_.shaders));
    gpu::ShaderLibrary versus(shader_options(options_.versus_shaders));
    const std::filesystem::path folder = options_.out / device_slug(instance.devices(), opened.index);
    Console console(desk_.out, desk_.log, console_options(options_.verbose));
    Recorder recorder(folder, console);
    Interruptible listener(recorder, desk_.before_a_row);
    RunInfo info = make_run_info(run_settings(), device.info());
    DeviceRunOptions run_options = device_run_options(instance);
    if (device.info().is_cpu()) {
      run_options.sampling.most_heat_s = run_options.sampling.least_heat_s;
      run_options.sampling.own_clock_tolerance = cpu_clock_tolerance;
    } else {
      run_options.sampling.sample_target_ns = gpu_sample_ns;
    }
    if (!options_.versus_shaders.empty()) run_options.versus = {&versus};
    if (has_perf(groups_)) {
      run_options.tools = &tools_of(opened, shaders);
      info.timer = opened.tools->timer;
      info.ceilings = opened.tools->ceilings;
      opened.tools->measure_again = [&] { measure_again(*opened.tools, shaders, info, recorder); };
      opened.tools->measured_again = 0;
      run_options.sampling.timer_unit_ns = info.timer.unit_ns;
    }
    recorder.run(info);
    recorder.plan(plan_of(groups_, run_options.names));
    run_on_device(device, shaders, groups_, expectations_, run_options, listener);
    if (opened.tools) opened.tools->measure_again = {};  // what it refers to ends here
    recorder.done();
    RunReport report = recorder.report();
    print_summary(desk_.out, console, report, folder, options_.benchmark_console);
    return report;
  }

  /// Made once for each device, however often a selection is run on it.
  TimingTools& tools_of(RunDevices::Opened& opened, gpu::ShaderLibrary& shaders) const {
    if (!opened.tools) {
      opened.tools = std::make_unique<TimingTools>(*opened.device, shaders);
      desk_.log << "timer   " << to_string(opened.tools->timer) << '\n';
      add_ceilings(*opened.tools, shaders);
    }
    return *opened.tools;
  }

  /// Without memory for them the run goes on: its rows have no percentages then.
  void add_ceilings(TimingTools& tools, gpu::ShaderLibrary& shaders) const {
    if (options_.ceilings == "none") return;
    try {
      tools.ceilings = ceilings_of(tools, shaders, options_.ceilings == "measure");
      desk_.log << "limits  " << ceilings_line(tools.ceilings) << '\n';
    } catch (const gpu::OutOfMemory& error) {
      desk_.log << "limits  not measured: " << error.what() << '\n';
    }
  }

  static Ceilings ceilings_of(TimingTools& tools, gpu::ShaderLibrary& shaders, bool anew) {
    const CeilingStore store(default_ceiling_directory());
    return ceilings_for(tools.device, shaders, store, anew ? CeilingPolicy::Measure : CeilingPolicy::Stored);
  }

  /// The journal is told the run's circumstances again: its rows are held against the new ceilings from then
  /// on.
  void measure_again(TimingTools& tools, gpu::ShaderLibrary& shaders, RunInfo& info,
                     RunListener& listener) const {
    if (!tools.ceilings.measured()) return;
    desk_.log << "limits  measured again: a row is above them\n";
    tools.ceilings = larger_of(tools.ceilings, measure_ceilings(tools.device, shaders));
    CeilingStore(default_ceiling_directory()).store(tools.ceilings);
    desk_.log << "limits  " << ceilings_line(tools.ceilings) << '\n';
    info.ceilings = tools.ceilings;
    listener.run(info);
  }

  RunSettings run_settings() const {
    return {.version = version(),
            .compiler = ASSAY_COMPILER,
            .build_type = ASSAY_BUILD_TYPE,
            .command = context_.command_line,
            .seed = options_.cases.seed.value_or(0),
            .validation = options_.validation,
            .repro_options = repro_options(options_)};
  }

  DeviceRunOptions device_run_options(const gpu::Instance& instance) const {
    DeviceRunOptions run_options;
    run_options.mode = options_.cases.selection().mode;
    if (!options_.dump.empty()) run_options.dump = options_.dump;
    run_options.names = {name_of_folder(options_.shaders), name_of_folder(options_.versus_shaders)};
    run_options.baseline_impl = options_.baseline_impl;
    run_options.sampling.budget_s = options_.budget_s;
    run_options.sampling.min_blocks = standard_blocks;
    run_options.injected_slowdown_pct = options_.injected_slowdown_pct;
    if (!options_.versus_shaders.empty() || !options_.baseline_impl.empty())
      run_options.sampling.min_blocks = compared_blocks;
    run_options.sampling.shuffle_seed = options_.cases.seed.value_or(0);
    if (options_.validation) {
      run_options.validation_messages = [&instance] { return instance.validation_messages(); };
      run_options.newest_validation_message = [&instance] {
        const std::vector<std::string> texts = instance.validation_texts();
        return texts.empty() ? std::string("(no text)") : texts.back();
      };
    }
    return run_options;
  }

  const RunOptions& options_;
  const Context& context_;
  const RunDesk& desk_;
  LoadResult loaded_;
  std::vector<const Case*> selected_;
  std::vector<PlannedGroup> groups_;
  Expectations expectations_;
};

}  // namespace

RunDevices::RunDevices(const RunOptions& options) : instance_({.validation = options.validation}) {
  const std::vector<std::size_t> chosen = gpu::select_devices(instance_.devices(), options.devices);
  refuse_wrong_device(options, instance_, chosen);
  for (const std::size_t index : chosen) {
    Opened& opened = opened_.emplace_back();
    opened.index = index;
    opened.device = std::make_unique<gpu::Device>(instance_, index);
  }
}

RunOutcome run_once(const RunOptions& options, const Context& context, std::unique_ptr<RunDevices>& devices,
                    const RunDesk& desk) {
  return Run(options, context, desk).run(devices);
}

}  // namespace assay::cli
