#include "ops/registry.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::ops {
namespace {

/// The line of README's table of ops that begins with this op, or nothing.
std::string row_of(const std::string& readme, const std::string& op) {
  const std::string start = "\n| `" + op + "` |";
  const std::size_t at = readme.find(start);
  return at == std::string::npos ? "" : readme.substr(at + 1, readme.find('\n', at + 1) - at - 1);
}

TEST(Readme, ListsEveryOpWithItsImpls) {
  const std::string readme = test::read_file(ASSAY_SOURCE_DIR "/README.md");
  const Registry ops = registry();
  for (const Op& op : ops.ops()) {
    const std::string row = row_of(readme, op.name);
    EXPECT_NE(row, "") << op.name << " has no row in README.md's table of ops";
    for (const Impl& impl : op.impls) {
      EXPECT_NE(row.find("`" + impl.name + "`"), std::string::npos) << op.name << ": " << impl.name;
    }
  }
}

}  // namespace
}  // namespace assay::ops
