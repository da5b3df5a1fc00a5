#include "harness/cases/expectations.h"
#include "harness/cli/commands.h"
#include "harness/core/error.h"
#include "harness/engine/case_info.h"
#include "harness/engine/device_run.h"
#include "harness/engine/recorder.h"
#include "harness/engine/run_info.h"
#include "harness/gpu/gpu.h"
#include "harness/report/exit_code.h"

#include <fmt/format.h>

#include "build_info.h"
#include <algorithm>
#include <iostream>
#include <regex>

namespace assay::cli {
namespace {

/// What a repro line must repeat to meet the same device and shaders.
std::string repro_options(const RunOptions& options) {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : " ") + words; };
  for (const std::string& device : options.devices) add(fmt::format("--device '{}'", device));
  if (!options.shaders.empty()) add(fmt::format("--shaders '{}'", options.shaders.string()));
  if (options.cases.seed) add(fmt::format("--seed {}", *options.cases.seed));
  if (options.validation) add("--validation");
  return text;
}

std::vector<CaseInfo> plan_of(const std::vector<PlannedGroup>& groups) {
  std::vector<CaseInfo> plan;
  for (const PlannedGroup& group : groups) {
    for (const PlannedRow& row : group) plan.push_back(case_info(*row.one, row.mode));
  }
  return plan;
}

bool has_perf(const std::vector<PlannedGroup>& groups) {
  return std::any_of(groups.begin(), groups.end(), [](const PlannedGroup& group) {
    return std::any_of(group.begin(), group.end(),
                       [](const PlannedRow& row) { return row.mode == Mode::Perf; });
  });
}

/// A whole `assay run`: everything that its devices share.
class RunCommand {
 public:
  RunCommand(const RunOptions& options, const Context& context)
      : options_(options),
        context_(context),
        loaded_(load_and_complain(options.cases, context.registry)),
        selected_(select(loaded_.cases, options.cases.selection())),
        groups_(plan_rows(selected_, options.cases.selection().mode)) {}

  int run() {
    if (selected_.empty() || groups_.empty()) {
      if (!loaded_.errors.empty()) return static_cast<int>(ExitCode::Usage);
      throw Error(fmt::format("choosing cases: none of {} is selected; `assay list` shows their ids",
                              loaded_.cases.size()));
    }
    load_expectation_rules();
    gpu::Instance instance({.validation = options_.validation});
    const std::vector<std::size_t> chosen = gpu::select_devices(instance.devices(), options_.devices);
    refuse_wrong_device(instance, chosen);
    ExitCode worst = ExitCode::Fine;
    for (const std::size_t index : chosen) worst = std::max(worst, run_device(instance, index));
    if (worst != ExitCode::Infrastructure && !loaded_.errors.empty()) worst = ExitCode::Usage;
    return static_cast<int>(worst);
  }

 private:
  void load_expectation_rules() {
    ExpectationsResult result = load_expectations(find_expectations(options_.cases.paths()));
    for (const Diagnostic& error : result.errors) {
      std::cerr << to_string(error) << '\n';
      loaded_.errors.push_back(error);
    }
    expectations_ = std::move(result.expectations);
  }

  void refuse_wrong_device(const gpu::Instance& instance, const std::vector<std::size_t>& chosen) const {
    if (options_.expect_device.empty()) return;
    std::regex wanted;
    try {
      wanted = std::regex(options_.expect_device, std::regex::icase);
    } catch (const std::regex_error& error) {
      throw Error(fmt::format("--expect-device '{}' is no regular expression: {}", options_.expect_device,
                              error.what()));
    }
    for (const std::size_t index : chosen) {
      const std::string& name = instance.devices()[index].name;
      if (std::regex_search(name, wanted)) continue;
      throw Error(fmt::format("wrong device: '{}' is chosen, --expect-device wants '{}'; nothing was run",
                              name, options_.expect_device),
                  ExitCode::Infrastructure);
    }
  }

  ExitCode run_device(gpu::Instance& instance, std::size_t index) {
    gpu::Device device(instance, index);
    gpu::ShaderLibrary shaders(shader_options());
    const std::filesystem::path folder = options_.out / device_slug(instance.devices(), index);
    Console console(std::cout, std::cerr, console_options(options_.verbose));
    Recorder recorder(folder, console);
    RunInfo info = make_run_info(run_settings(), device.info());
    DeviceRunOptions run_options = device_run_options(instance);
    DeviceActivity activity;
    run_options.sampling.activity = &activity;
    if (device.info().type == "cpu") run_options.sampling.most_heat_s = run_options.sampling.least_heat_s;
    if (has_perf(groups_)) {
      info.timer_unit_ns = gpu::measure_timer_unit_ns(device);
      run_options.sampling.timer_unit_ns = info.timer_unit_ns;
    }
    recorder.run(info);
    recorder.plan(plan_of(groups_));
    run_on_device(device, shaders, groups_, expectations_, run_options, recorder);
    recorder.end();
    const RunReport report = recorder.report();
    print_summary(console, report, folder, options_.benchmark_console);
    return exit_code(report);
  }

  gpu::ShaderOptions shader_options() const {
    gpu::ShaderOptions shader_options{.cache_directory = gpu::default_cache_directory()};
    if (!options_.shaders.empty()) shader_options.directories.push_back(options_.shaders);
    return shader_options;
  }

  RunSettings run_settings() const {
    return {.version = ASSAY_VERSION,
            .compiler = ASSAY_COMPILER,
            .build_type = ASSAY_BUILD_TYPE,
            .command = context_.command_line,
            .seed = options_.cases.seed.value_or(0),
            .validation = options_.validation};
  }

  DeviceRunOptions device_run_options(const gpu::Instance& instance) const {
    DeviceRunOptions run_options;
    run_options.mode = options_.cases.selection().mode;
    if (!options_.dump.empty()) run_options.dump = options_.dump;
    run_options.repro_options = repro_options(options_);
    run_options.sampling.budget_s = options_.budget_s;
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
  LoadResult loaded_;
  std::vector<const Case*> selected_;
  std::vector<PlannedGroup> groups_;
  Expectations expectations_;
};

}  // namespace

int run(const RunOptions& options, const Context& context) {
  return RunCommand(options, context).run();
}

}  // namespace assay::cli
