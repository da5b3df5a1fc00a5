#include "harness/gpu/spirv/spirv_rewrites.h"

#include "harness/gpu/gpu.h"
#include "harness/gpu/shaders/compile.h"
#include "harness/gpu/spirv/shader_interface.h"
#include "harness/gpu/spirv/spirv_rules.h"
#include "tests/support/gpu.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::gpu {
namespace {

using namespace test;
using ::testing::Each;

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

class ClearedTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { static const GlslangProcess shared; }

  std::vector<std::uint32_t> compile(const std::string& text) {
    sources.write("s.comp", text);
    return ShaderLibrary({.directories = {sources.path()}, .cache_directory = {}})
        .compile("s.comp", {})
        .words;
  }

  TemporaryFolder sources;
};

/// Each workgroup leaves a mark for later ones, and tells what it found.
constexpr const char* marking = R"(#version 450
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0) buffer Y { uint y[]; };
layout(constant_id = 20) const uint size = 1000u;
shared uint marks[size];
shared struct { uint a; vec4 b[3]; } more;
void main() {
  uint found = more.a;
  for (uint i = 0u; i < size; ++i) found |= marks[i];
  barrier();
  for (uint i = 0u; i < size; ++i) marks[i] = 0xabcdu;
  more.a = 0x12340000u;
  barrier();
  y[gl_GlobalInvocationID.x] = found;
}
)";

TEST_F(ClearedTest, AModuleIsValidAndElseTheSame) {
  const std::vector<std::uint32_t> words = compile(marking);
  const std::vector<std::uint32_t> cleared = with_cleared_workgroup_memory(words);
  EXPECT_EQ(validate_spirv(cleared), std::nullopt);
  EXPECT_EQ(cleared.size(), words.size() + 2 * 4) << "a constant and an operand for each of two variables";
  EXPECT_EQ(interface_of(cleared, {}).shared_bytes, interface_of(words, {}).shared_bytes);
  EXPECT_EQ(with_cleared_workgroup_memory(cleared), cleared) << "what has a value keeps it";
}

TEST_F(ClearedTest, AModuleWithoutWorkgroupMemoryIsTheSame) {
  const std::vector<std::uint32_t> words = compile(shader_text(buffers({"y"}), "y.data[0] = 1u;"));
  EXPECT_EQ(with_cleared_workgroup_memory(words), words);
}

TEST_F(ClearedTest, NoWordsAreNoModule) {
  EXPECT_TRUE(with_cleared_workgroup_memory({}).empty());
}

}  // namespace

}  // namespace assay::gpu
