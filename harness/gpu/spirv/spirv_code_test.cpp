#include "harness/gpu/gpu.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

namespace assay::gpu {
namespace {

class SpirvCode : public testing::Test {
 protected:
  std::vector<std::uint32_t> code(const std::string& body) {
    const std::string folder = "s" + std::to_string(number_++);
    folder_.write(folder + "/x.comp",
                  "#version 450\nlayout(constant_id = 7) const uint size = 1;\n"
                  "layout(set = 0, binding = 0) buffer B { uint b[]; };\n" +
                      body);
    ShaderLibrary library({.directories = {folder_ / folder}, .cache_directory = {}});
    return without_debug_information(library.compile("x.comp", {}).words);
  }

  test::TemporaryFolder folder_;
  int number_ = 0;
};

TEST_F(SpirvCode, HasNoNamesAndComments) {
  const auto before = code("void main() { uint found = b[0]; b[1] = found + size; }\n");
  EXPECT_EQ(before, code("void main() { uint other = b[0]; b[1] = other + size; }\n"));
  EXPECT_EQ(before,
            code("// a comment\n\n void main() { uint found = b[0]; /* one */ b[1] = found + size; }\n"));
}

TEST_F(SpirvCode, HasWhatRuns) {
  const auto before = code("void main() { uint found = b[0]; b[1] = found + size; }\n");
  EXPECT_NE(before, code("void main() { uint found = b[0]; b[1] = found + size + 1u; }\n"));
  EXPECT_NE(before, code("void main() { uint found = b[0]; b[2] = found + size; }\n"));
}

TEST_F(SpirvCode, HasTheNamesByWhichConstantsAreSet) {
  const auto body = [](const std::string& a, const std::string& b) {
    return "layout(constant_id = 3) const uint " + a + " = 1;\nlayout(constant_id = 4) const uint " + b +
           " = 1;\nvoid main() { b[1] = left - right + size; }\n";
  };
  EXPECT_NE(code(body("left", "right")), code(body("right", "left")));
}

TEST(SpirvCodeOf, WhatIsNoModuleIsTheSame) {
  const std::vector<std::uint32_t> words{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(without_debug_information(words), words);
  const std::vector<std::uint32_t> cut{0x07230203, 0x10300, 0, 9, 0, (9U << 16) | 5};
  EXPECT_EQ(without_debug_information(cut), cut);
}

}  // namespace
}  // namespace assay::gpu
