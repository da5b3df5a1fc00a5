#include "harness/cases/describe.h"
#include "harness/cli/commands.h"
#include "harness/core/error.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>

namespace assay::cli {
namespace {

/// A case of this op from the default folder, for its tensors' shapes and forms; none is no error.
std::optional<Case> example_of(const Op& op, const Registry& registry) {
  try {
    LoadResult loaded = load_cases(CaseOptions{}.paths(), registry);
    for (Case& one : loaded.cases) {
      if (one.op == &op) return std::move(one);
    }
  } catch (const Error&) {
    return std::nullopt;  // no folder of cases here: the description does without an example
  }
  return std::nullopt;
}

int ops(const std::string& name, const Registry& registry) {
  if (name.empty()) {
    std::cout << list_ops(registry);
    return 0;
  }
  const Op* op = registry.find(name);
  if (op == nullptr) throw Error(fmt::format("there is no op '{}'; `assay ops` lists them", name));
  const std::optional<Case> example = example_of(*op, registry);
  std::cout << describe_op(*op, example ? &*example : nullptr);
  return 0;
}

}  // namespace

void add_ops(CLI::App& app, Context& context) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("ops", "Print the ops; with a name, its parameters and impls");
  command->add_option("name", *name, "An op");
  command->callback(
      [&context, name] { context.chosen = [&context, name] { return ops(*name, context.registry); }; });
}

void add_schema(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("schema", "Print the JSON Schema of case files");
  command->callback([&context] {
    context.chosen = [&context] {
      std::cout << schema_json(context.registry);
      return 0;
    };
  });
}

}  // namespace assay::cli
