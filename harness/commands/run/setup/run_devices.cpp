#include "harness/commands/run/setup/run_devices.h"

#include "harness/base/error.h"
#include "harness/base/pattern.h"
#include "harness/base/text.h"
#include "harness/engine/run/run_info.h"
#include "harness/report/console/ceilings_text.h"

#include <fmt/format.h>

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
    const std::string& name = instance.devices()[index].name;
    if (wanted.is_in(name)) continue;
    throw Error(fmt::format("wrong device: the run would be on '{}', which --expect-device '{}' does not "
                            "match; nothing was run",
                            name, options.expect_device),
                ExitCode::Infrastructure);
  }
}

}  // namespace

CeilingStore ceiling_store(const std::filesystem::path& named) {
  return named.empty() ? CeilingStore(default_ceiling_directory()) : CeilingStore(named, KeptCeilings::All);
}

RunDevices::RunDevices(const RunOptions& options)
    : instance_({.validation = options.validation, .robust_access = options.robust_access}) {
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

}  // namespace assay::app
