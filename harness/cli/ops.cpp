#include "harness/base/error.h"
#include "harness/cases/describe.h"
#include "harness/cli/commands.h"

#include <fmt/format.h>

#include <iostream>

namespace assay::cli {
namespace {

/// A case of this op from the default folder, for its tensors' shapes and forms; none is no error.
std::optional<Case> example_of(const Op& op, const Registry& registry) {
  try {
    LoadResult loaded = load_cases(app::CaseOptions{}.paths(), registry);
    for (Case& test_case : loaded.cases) {
      if (test_case.op == &op) return std::move(test_case);
    }
  } catch (const Error&) {
    return std::nullopt;  // no folder of cases here: the description does without an example
  }
  return std::nullopt;
}

}  // namespace

int ops(const std::string& name, const Context& context) {
  if (name.empty()) {
    std::cout << list_ops(context.registry);
    return 0;
  }
  const Op* op = context.registry.find(name);
  if (op == nullptr) throw Error(fmt::format("there is no op '{}'; `assay ops` lists them", name));
  const std::optional<Case> example = example_of(*op, context.registry);
  std::cout << describe_op(*op, example ? &*example : nullptr);
  return 0;
}

int schema(const Context& context) {
  std::cout << schema_json(context.registry);
  return 0;
}

}  // namespace assay::cli
