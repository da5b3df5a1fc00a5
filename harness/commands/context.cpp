#include "harness/commands/context.h"

#include "harness/base/error.h"
#include "harness/external/load_ops.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace assay::app {

Context with_ops(const Context& context, std::span<const std::filesystem::path> folders) {
  if (folders.empty()) return context;
  external::LoadedOps loaded = external::load_ops(folders, context.registry);
  if (!loaded.errors.empty()) {
    std::string told;
    for (const Diagnostic& error : loaded.errors) told += "\n" + to_string(error);
    throw Error(fmt::format(
        "loading the ops of --ops: {}{}",
        loaded.errors.size() == 1 ? "an error" : fmt::format("{} errors", loaded.errors.size()), told));
  }
  std::vector<Op> ops(context.registry.ops().begin(), context.registry.ops().end());
  for (Op& op : loaded.ops) ops.push_back(std::move(op));
  auto registry = std::make_shared<const Registry>(std::move(ops));
  return {.registry = *registry,
          .command_line = context.command_line,
          .build = context.build,
          .shader_compiler = context.shader_compiler,
          .worker = context.worker,
          .trial_worker = context.trial_worker,
          .parse_run = context.parse_run,
          .own_registry = registry};
}

}  // namespace assay::app
