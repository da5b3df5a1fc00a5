#include "harness/app/run_shard.h"
#include "harness/base/error.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/cases/describe.h"
#include "harness/cli/commands.h"
#include "harness/gpu/gpu.h"

#include <fmt/format.h>

#include <iostream>
#include <utility>

namespace assay::cli {
namespace {

DeviceInfo device_named(const std::string& name) {
  const gpu::Instance instance;
  const std::vector<std::size_t> chosen = gpu::select_devices(instance.devices(), {name});
  if (chosen.size() == 1) return instance.devices()[chosen.front()];
  throw Error(fmt::format("choosing a device to list cases for: '{}' matches {} devices; name one of them",
                          name, chosen.size()));
}

}  // namespace

int list(const ListOptions& options, const Context& context) {
  const LoadResult loaded = app::load_and_complain(options.cases, context.registry, std::cerr);
  std::vector<const Case*> selected = select(loaded.cases, options.cases.selection());
  if (selected.empty() && loaded.errors.empty()) app::throw_nothing_selected(options.cases, loaded.cases);
  const bool is_empty = selected.empty();
  selected = app::listed_cases(options.cases, std::move(selected));
  if (options.device.empty()) {
    list_cases(selected, options.details, std::cout);
  } else {
    const DeviceCases on_device(selected, device_named(options.device));
    list_cases(on_device.all(), options.details, std::cout);
  }
  return static_cast<int>(loaded.errors.empty() && !is_empty ? ExitCode::Fine : ExitCode::Usage);
}

}  // namespace assay::cli
