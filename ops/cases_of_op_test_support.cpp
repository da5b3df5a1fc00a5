#include "ops/cases_of_op_test_support.h"

#include "harness/cases/expansion/load.h"
#include "ops/registry.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace assay::test {

std::vector<Case> accuracy_cases_of(const Registry& ops, const Op& op) {
  const std::vector<std::filesystem::path> paths{ASSAY_SOURCE_DIR "/cases/" + op.name + ".yaml"};
  LoadResult loaded = load_cases(paths, ops);
  for (const Diagnostic& error : loaded.errors) ADD_FAILURE() << to_string(error);
  std::erase_if(loaded.cases, [&](const Case& test_case) {
    return test_case.op != &op || test_case.mode == Mode::Perf || test_case.invalid || !test_case.impl->build;
  });
  return std::move(loaded.cases);
}

std::vector<std::string> names_of_ops() {
  const Registry ops = ops::registry();
  std::vector<std::string> names;
  for (const Op& op : ops.ops()) names.push_back(op.name);
  return names;
}

}  // namespace assay::test
