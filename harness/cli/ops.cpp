#include "harness/base/error.h"
#include "harness/cases/describe/describe.h"
#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"
#include "harness/commands/context.h"
#include "harness/commands/loaded_cases.h"
#include "harness/commands/run_options.h"
#include "harness/gpu/shaders/shader_sources.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <set>

namespace assay::cli {
namespace {

struct OpsOptions {
  std::string name;                            ///< empty: all
  bool markdown = false;                       ///< print all ops in the format of docs/ops.md
  std::vector<std::filesystem::path> folders;  ///< --ops
};

void declare_ops(CLI::App& app, OpsOptions& options) {
  CLI::Option* name = app.add_option("name", options.name, "The op to describe");
  app.add_flag("--markdown", options.markdown, "Print docs/ops.md; run this in the source tree's root")
      ->excludes(name);
  add_op_folders(app, options.folders);
}

/// Returns the cases of the default folder, which name an op's tensors and files. Having none is not an
/// error.
std::vector<Case> cases_if_any(const OpsOptions& options, const Registry& registry) {
  try {
    return load_cases(app::CaseOptions{.op_folders = options.folders}.paths(), registry).cases;
  } catch (const Error&) {
    return {};  // without a folder of cases, the description omits them
  }
}

/// Returns the files that the shaders include, directly or indirectly, as paths from the source tree's root.
std::vector<std::string> includes_of(const std::vector<std::string>& shaders) {
  constexpr std::string_view root = "shaders/";
  const gpu::ShaderSources sources({}, gpu::embedded_shaders());
  std::set<std::string> included;
  for (const std::string& shader : shaders) {
    const std::string name = shader.substr(root.size());
    for (const auto& [other, source] : sources.closure(name)) {
      if (other != name) included.insert(std::string(root) + other);
    }
  }
  return {included.begin(), included.end()};
}

ExitCode print_op(const OpsOptions& options, const Registry& registry) {
  const std::string& name = options.name;
  const Op* op = registry.find(name);
  if (op == nullptr) throw Error(app::no_such_op(name, registry));
  const std::vector<Case> cases = cases_if_any(options, registry);
  const auto example = std::ranges::find(cases, op, &Case::op);
  const OpFiles files = files_of(*op, cases, gpu::path_in_tree);
  std::cout << describe_op(*op, example == cases.end() ? nullptr : &*example) << '\n'
            << describe_files(files, includes_of(files.shaders));
  return ExitCode::Fine;
}

ExitCode print_page(const Registry& registry) {
  if (!std::filesystem::is_directory("cases")) {
    throw Error("writing docs/ops.md: there is no folder cases/ here; run this in the source tree's root");
  }
  const LoadResult loaded = app::load_and_complain({.files = {"cases"}}, registry, std::cerr);
  if (!loaded.errors.empty()) return ExitCode::Usage;
  std::cout << ops_page(registry, loaded.cases, gpu::path_in_tree);
  return ExitCode::Fine;
}

ExitCode ops(const OpsOptions& options, const Context& given) {
  const Context context = app::with_ops(given, options.folders);
  if (options.markdown) return print_page(context.registry);
  if (!options.name.empty()) return print_op(options, context.registry);
  std::cout << list_ops(context.registry);
  return ExitCode::Fine;
}

}  // namespace

void add_ops(Commands& commands) {
  commands.add<OpsOptions>("ops", "Print the ops, or the parameters, impls and files of one op", declare_ops,
                           ops);
}

}  // namespace assay::cli
