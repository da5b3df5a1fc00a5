#include "harness/commands/run/setup/device_session.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/commands/device_profiles.h"
#include "harness/commands/run/setup/engine_options.h"
#include "harness/commands/run/setup/run_inputs.h"
#include "harness/device/device_profile.h"
#include "harness/engine/ceilings/matrix_check.h"
#include "harness/engine/run/device_run.h"
#include "harness/engine/run/run_info.h"
#include "harness/report/console/labelled_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace assay::app {
namespace {

Pattern device_pattern(const std::string& expression) try {
  return Pattern(expression, Pattern::Case::Ignored);
} catch (const Error& error) {
  throw Error(fmt::format("--expect-device '{}' is not a valid regular expression: {}",
                          shortened(expression, 60), error.what()));
}

void refuse_wrong_device(const RunOptions& options, const gpu::Instance& instance,
                         const std::vector<std::size_t>& chosen) {
  if (options.expect_device.empty()) return;
  const Pattern wanted = device_pattern(options.expect_device);
  for (const std::size_t index : chosen) {
    const std::string name = own_name(instance.devices()[index]);
    if (wanted.is_in(name)) continue;
    throw Error(fmt::format("wrong device: the run would be on '{}', which --expect-device '{}' does not "
                            "match; nothing was run",
                            name, options.expect_device),
                ExitCode::Infrastructure);
  }
}

/// What `assay judge` judges shares no cache with other runs.
SpirvOnDisk spirv_of_judged(const RunOptions& options) {
  return options.versus_alone ? SpirvOnDisk::None : SpirvOnDisk::Shared;
}

}  // namespace

CeilingStore ceiling_store(const std::filesystem::path& named) {
  return named.empty() ? CeilingStore(default_ceiling_directory()) : CeilingStore(named, KeptCeilings::All);
}

RunDevices::RunDevices(const RunOptions& options)
    : instance_({.validation = options.validation,
                 .robust_access = options.robust_access,
                 .as_if = profile_of(options.as_if)}),
      // Pipelines of kernels that are being edited are not worth keeping.
      keeps_pipelines_(options.shaders.empty() && options.versus_shaders.empty()),
      check_([](gpu::Device& device) { check_matrices(device); }) {
  const std::vector<std::size_t> chosen = gpu::select_devices(instance_.devices(), options.devices);
  refuse_wrong_device(options, instance_, chosen);
  for (const std::size_t index : chosen) {
    Opened& opened = opened_.emplace_back();
    opened.slug = device_slug(instance_.devices(), index);
    opened.index = index;
    opened.info = instance_.devices()[index];
  }
}

void RunDevices::open(Opened& device) {
  if (!device.device) device.device = std::make_unique<gpu::Device>(instance_, device.index);
}

const DeviceInfo& RunDevices::make_ready(Opened& device, std::ostream& log) {
  open(device);
  if (device.is_ready) return device.info;
  if (keeps_pipelines_) device.device->keep_pipelines_in(gpu::default_pipeline_directory());
  check_(*device.device);
  device.info = device.device->info();
  device.is_ready = true;
  for (const std::string& wrong : device.info.wrong_matrices) {
    log << "matrices that are not used: " << printable(wrong) << '\n';
  }
  return device.info;
}

std::vector<std::string> RunDevices::slugs() const {
  std::vector<std::string> slugs;
  for (const Opened& opened : opened_) slugs.push_back(opened.slug);
  return slugs;
}

TimingTools& timing_tools_of(RunDevices::Opened& opened, gpu::ShaderLibrary& shaders,
                             const TimingSource& source, std::ostream& log) {
  if (opened.tools) return *opened.tools;
  opened.tools = std::make_unique<TimingTools>(*opened.device, shaders, source.known.timer);
  if (source.known.timer) {
    opened.tools->ceilings = source.known.ceilings.value_or(Ceilings{});
    return *opened.tools;
  }
  if (source.ceilings == "none") return *opened.tools;
  try {
    const auto policy = source.ceilings == "measure" ? CeilingPolicy::Measure : CeilingPolicy::Stored;
    opened.tools->ceilings = ceilings_for(*opened.tools, shaders, source.store, policy);
    if (const auto why = disturbed(opened.tools->ceilings, opened.device->info())) {
      const bool kept = source.store.takes(opened.tools->ceilings, opened.device->info());
      log << "ceilings may be too low" << (kept ? ": " : ", and are not kept for later runs: ")
          << printable(*why) << '\n';
    }
  } catch (const gpu::OutOfMemory& error) {
    log << "ceilings were not measured, so rows have no percentages: " << printable(error.what()) << '\n';
  }
  return *opened.tools;
}

Ceilings known_ceilings(const DeviceInfo& device, gpu::ShaderLibrary& shaders, const CeilingStore& store) {
  return stored_ceilings(device, shaders, store).value_or(Ceilings{});
}

void measure_ceilings_again(TimingTools& tools, gpu::ShaderLibrary& shaders, const CeilingStore& store,
                            RunInfo& info, RunListener& listener, std::ostream& log) {
  if (!tools.ceilings.measured()) return;
  tools.ceilings = larger_of(tools.ceilings, measure_ceilings(tools, shaders));
  if (store.takes(tools.ceilings, tools.device.info())) store.store(tools.ceilings);
  log << "ceilings were measured again, as a row exceeded them: " << ceilings_line(tools.ceilings) << '\n';
  info.ceilings = tools.ceilings;
  listener.run(info);
}

DeviceSession::DeviceSession(const SessionParts& parts, RunDevices::Opened& device)
    : parts_(parts),
      device_(device),
      shaders_(shader_options(parts.options.shaders, shader_compiler(parts.options, parts.context))),
      versus_(shader_options(parts.options.versus_shaders, shader_compiler(parts.options, parts.context),
                             spirv_of_judged(parts.options))),
      answers_(answer_cache_options(parts.options, parts.context.build)),
      store_(ceiling_store(parts.options.ceiling_store)),
      cases_(parts.selected, parts.devices.make_ready(device, parts.log)),
      tuning_(found_tuning(tuning_of(parts.options), device.info, parts.context.registry)),
      rows_(planned_groups(parts.options, cases_.all()), device.info, tuning_ ? tuning_->taken() : nullptr) {
  const RunOptions& options = parts_.options;
  engine_ = engine_options(options, parts_.devices.instance(), device_.info, parts_.stop_requested);
  engine_.group_ended = [this] { save_pipelines_now_and_then(); };
  if (!options.versus_shaders.empty()) engine_.versus = {&versus_};
  if (options.ceilings != "none") engine_.ceilings = known_ceilings(device_.info, shaders_, store_);
  engine_.answers = &answers_;
  info_ = make_run_info(run_settings(options, parts_.context, parts_.run_id), device_.info);
  info_.inputs = parts_.inputs;
  if (tuning_) info_.inputs[tuning_file_input] = told_in_report(*tuning_);
  if (tuning_ && tuning_->taken()) info_.inputs["tuning"] = tuning_->hash;
  info_.shard = parts_.shard;
  info_.secret_seed = parts_.secret_seed;
  if (parts_.secret_seed != 0) engine_.secret_seed = parts_.secret_seed;
}

DeviceSession::~DeviceSession() {
  if (!device_.tools) return;
  device_.tools->measure_again = {};  // it refers to this session
  device_.tools->energy = nullptr;
}

std::vector<RowInfo> DeviceSession::plan() const {
  return plan_of(rows_.groups(), engine_.names, engine_.rows.baseline_impl);
}

bool DeviceSession::is_timed() const {
  return times_one_of({});
}

bool DeviceSession::times_one_of(const RowsLeft& left) const {
  RowIndex index = 0;
  for (const PlannedGroup& group : rows_.groups()) {
    for (const PlannedRow& row : group) {
      if (left.wants(index++) && row.mode == Mode::Perf) return true;
    }
  }
  return false;
}

void DeviceSession::tell(RunListener& listener, const KnownTiming& known) {
  listener_ = &listener;
  known_ = known;
  if (parts_.options.rows.measures_energy && is_timed()) {
    FoundMeter found = find_energy_meter(device_.info);
    info_.energy = meter_line(found);
    energy_meter_ = std::move(found.meter);
  }
  const auto stopped = [this] { return parts_.stop_requested && parts_.stop_requested(); };
  if (known_.timer) {
    info_.timer = *known_.timer;
    if (known_.ceilings) engine_.ceilings = info_.ceilings = *known_.ceilings;
  } else if (is_timed() && !stopped()) {
    add_timing({});
  }
  listener_->run(info_);
  listener_->plan(plan());
}

void DeviceSession::add_timing(const KnownTiming& known) {
  device_.device->tell_phase(Phase::Ceilings);
  TimingTools& tools =
      timing_tools_of(device_, shaders_, {parts_.options.ceilings, store_, known}, parts_.log);
  engine_.tools = &tools;
  tools.energy = energy_meter_;
  engine_.sampling.timer_unit_ns = tools.timer.unit_ns;
  info_.timer = tools.timer;
  info_.ceilings = tools.ceilings;
  tools.measured_again = 0;
  tools.measure_again = [this, &tools] {
    measure_ceilings_again(tools, shaders_, store_, info_, *listener_, parts_.log);
  };
  device_.device->tell_phase(Phase::Host);
}

std::string DeviceSession::run(const RowsLeft& left) {
  if (engine_.tools == nullptr && known_.timer && times_one_of(left)) add_timing(known_);
  std::string no_dump_because = run_on_device(*device_.device, shaders_, rows_.groups(), left,
                                              parts_.expectations, engine_, *listener_);
  device_.device->save_pipelines();
  return no_dump_because;
}

/// Saves pipelines once per minute, so that a killed run loses only few.
void DeviceSession::save_pipelines_now_and_then() {
  constexpr double interval_s = 60;
  if (since_saved_.s() < interval_s) return;
  device_.device->save_pipelines();
  since_saved_ = Stopwatch();
}

}  // namespace assay::app
