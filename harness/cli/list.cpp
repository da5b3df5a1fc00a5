#include "harness/base/error.h"
#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/cases/describe/describe.h"
#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"
#include "harness/commands/context.h"
#include "harness/commands/device_profiles.h"
#include "harness/commands/loaded_cases.h"
#include "harness/commands/run/shards/run_shard.h"
#include "harness/commands/run_options.h"
#include "harness/engine/run/row_plan.h"
#include "harness/gpu/gpu.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <utility>

namespace assay::cli {
namespace {

struct ListOptions {
  app::CaseOptions cases;
  bool details = false;
  std::string device;  ///< whose choices `details` shows; as an entry of RunOptions::devices; empty: none
  std::string as_if;   ///< as RunOptions::as_if; empty: whether cases run is not said
};

void declare_list(CLI::App& app, ListOptions& options) {
  add_case_options(app, options.cases);
  CLI::Option* details = app.add_flag("-l,--long", options.details,
                                      "Also print mode, tier, file:line, model, and the layout of CONV2D");
  app.add_option("--device", options.device,
                 "For impl auto, print the layout of CONV2D on this device: index, UUID or part of the name")
      ->needs(details);
  add_as_if(app, options.as_if,
            "Print for each case whether a device with this profile can run it, and if not, why: ")
      ->excludes(details);
}

DeviceInfo device_named(const std::string& name) {
  const gpu::Instance instance;
  const std::vector<std::size_t> chosen = gpu::select_devices(instance.devices(), {name});
  if (chosen.size() == 1) return instance.devices()[chosen.front()];
  throw Error(fmt::format("choosing a device to list cases for: '{}' matches {} devices; name one of them",
                          name, chosen.size()));
}

/// "RUNS", for impl auto "RUNS as tiled", or "UNSUPPORTED: " and the reason.
std::string prospect_of(const Case& test_case, const DeviceInfo& device) {
  const RowPlan plan = plan_of_case(test_case, device);
  if (plan.not_run) {
    return fmt::format("{}: {}", name_of(plan.not_run->status), printable_line(plan.not_run->reason));
  }
  return plan.made.impl == test_case.impl ? "RUNS" : "RUNS as " + plan.made.impl->name;
}

/// Prints an id and what becomes of it per line, and the counts to stderr.
void list_prospects(std::span<const Case* const> cases, const DeviceInfo& device) {
  std::size_t running = 0;
  for (const Case* test_case : cases) {
    const std::string prospect = prospect_of(*test_case, device);
    if (prospect.starts_with("RUNS")) ++running;
    std::cout << test_case->id << "  " << prospect << '\n';
  }
  std::cerr << printable_line(fmt::format("{} of {} cases run with {}", running, cases.size(), device.as_if))
            << '\n';
}

ExitCode list(const ListOptions& options, const Context& given) {
  const Context context = app::with_ops(given, options.cases.op_folders);
  const LoadResult loaded = app::load_and_complain(options.cases, context.registry, std::cerr);
  std::vector<const Case*> selected = app::selected_cases(options.cases, loaded.cases);
  if (selected.empty() && loaded.errors.empty()) app::throw_nothing_selected(options.cases, loaded.cases);
  const bool is_empty = selected.empty();
  const std::optional<app::AskedShard> shard = app::asked_shard(options.cases.shard, std::getenv);
  if (shard && options.cases.shard.empty())
    std::cerr << fmt::format("shard {} of {} ({})\n", shard->shard.index, shard->shard.count, shard->by);
  selected = app::listed_cases(options.cases, shard, std::move(selected));
  if (!options.as_if.empty()) {
    const DeviceInfo device = app::find_profile(options.as_if).device;
    const DeviceCases with_profile(selected, device);
    list_prospects(with_profile.all(), device);
  } else if (options.device.empty()) {
    list_cases(selected, options.details, std::cout);
  } else {
    const DeviceCases on_device(selected, device_named(options.device));
    list_cases(on_device.all(), options.details, std::cout);
  }
  return loaded.errors.empty() && !is_empty ? ExitCode::Fine : ExitCode::Usage;
}

}  // namespace

void add_list(Commands& commands) {
  commands.add<ListOptions>("list", "Print the ids of the cases that `run` would select", declare_list, list);
}

}  // namespace assay::cli
