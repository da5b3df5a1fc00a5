#include "harness/gpu/spirv/spirv_optimized.h"

#include "harness/gpu/gpu.h"
#include "harness/gpu/shaders/compile.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::gpu {
namespace {

std::vector<std::uint32_t> compiled_main(const std::string& body) {
  const GlslangProcess glslang;
  const std::string text =
      "#version 450\nlayout(set = 0, binding = 0) buffer Y { uint y[]; };\nvoid main() { " + body + " }\n";
  return compile_glsl("a.comp",
                      {{"a.comp", {.name = "a.comp", .path = "a.comp", .display = "a.comp", .text = text}}},
                      {}, "");
}

TEST(SpirvOptimized, ForgetsWhatChangesNothing) {
  const auto plain = compiled_main("uint a = y[1]; y[0] = a;");
  const auto longer = compiled_main("uint b = 3u; uint c = y[1]; if (b > 4u) c = 0u; y[0] = c + 0u;");
  ASSERT_NE(without_debug_information(plain), without_debug_information(longer));
  EXPECT_EQ(optimized(plain), optimized(longer));
}

TEST(SpirvOptimized, KeepsWhatChangesSomething) {
  EXPECT_NE(optimized(compiled_main("y[0] = y[1];")), optimized(compiled_main("y[0] = y[1] + 1u;")));
}

TEST(SpirvOptimized, LeavesWordsAloneThatAreNoModule) {
  const std::vector<std::uint32_t> words{1, 2, 3};
  EXPECT_EQ(optimized(words), words);
}

}  // namespace
}  // namespace assay::gpu
