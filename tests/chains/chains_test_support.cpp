#include "tests/chains/chains_test_support.h"

#include "harness/cases/expansion/load.h"
#include "harness/chain/chain.h"
#include "ops/registry.h"
#include "tests/faults/bench.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay::test {

namespace fs = std::filesystem;

const Registry& tree_ops() {
  static const Registry made = ops::registry();
  return made;
}

std::vector<Case> load(const fs::path& path, const Registry& ops) {
  const std::vector<fs::path> files{path};
  LoadResult loaded = load_cases(files, ops);
  EXPECT_TRUE(loaded.errors.empty()) << (loaded.errors.empty() ? "" : to_string(loaded.errors.front()));
  return std::move(loaded.cases);
}

std::vector<Case> load_text(const std::string& text, const Registry& ops) {
  const TemporaryFolder folder;
  return load(folder.write("chain.yaml", text), ops);
}

const Case& named(const std::vector<Case>& cases, const std::string& name, const std::string& impl) {
  const auto found = std::ranges::find_if(
      cases, [&](const Case& one) { return one.name == name && one.impl->name == impl; });
  EXPECT_NE(found, cases.end()) << name << ' ' << impl;
  return *found;
}

chain::LayoutPlan plan_of(const Case& test_case, chain::PlanMode mode) {
  return plan_layouts(*test_case.op->chain, resolve(*test_case.op->chain, test_case.params), test_case.forms,
                      faults::Bench::shared().device().info(), mode);
}

Record run(const Case& test_case, Mode mode) {
  return faults::Bench::shared().run(test_case, mode);
}

}  // namespace assay::test
