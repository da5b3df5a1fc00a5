#include "harness/gpu/spirv/spirv_rules.h"

#include "harness/gpu/shaders/compile.h"
#include "harness/gpu/spirv/spirv_instructions.h"
#include "tests/support/gpu.h"

#include <glslang/SPIRV/spirv.hpp>

#include <random>

namespace assay::gpu {
namespace {

using namespace test;
using ::testing::HasSubstr;

class SpirvRules : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { static const GlslangProcess shared; }

  /// A shader with storage buffers x and y; `extensions`: the words of #extension lines.
  static std::vector<std::uint32_t> module_of(const std::string& declarations, const std::string& body,
                                              const std::vector<std::string>& extensions = {}) {
    std::string text = "#version 450\n";
    for (const std::string& extension : extensions) text += "#extension " + extension + " : require\n";
    text += "layout(local_size_x = 64) in;\nlayout(set = 0, binding = 0) buffer X { uint x[]; };\n" +
            declarations + "void main() {\n" + body + "\n}\n";
    return compile_glsl("a.comp", {{"a.comp", {.name = "a.comp", .display = "a.comp", .text = text}}}, {},
                        "");
  }

  static std::string complaint(const std::vector<std::uint32_t>& words) {
    try {
      check_module("mine/a.comp", words);
    } catch (const CompileError& error) {
      return error.what();
    }
    return "";
  }
};

const std::string plain_y = "layout(set = 0, binding = 1) buffer Y { uint y[]; };\n";

TEST_F(SpirvRules, AllowWhatComputes) {
  EXPECT_EQ(complaint(module_of(plain_y + "shared uint s[64];\n",
                                "s[gl_LocalInvocationIndex] = x[gl_GlobalInvocationID.x];\nbarrier();\n"
                                "atomicAdd(y[0], s[0]); y[1] = uint(sqrt(float(x[2])));")),
            "");
  EXPECT_EQ(complaint(module_of(plain_y + "layout(constant_id = 40) const uint own = 3u;\n",
                                "y[own] = subgroupAdd(x[0]);", {"GL_KHR_shader_subgroup_arithmetic"})),
            "");
}

TEST_F(SpirvRules, WhatCannotBeReadDoesNotCompile) {
  // A packed vector format that does not exist, as the source demands it.
  const std::vector<std::uint32_t> words = module_of(
      "spirv_instruction(extensions = [\"SPV_KHR_integer_dot_product\"], capabilities = [6019, 6018], id = "
      "4450)\n"
      "int dot4(int a, int b, spirv_literal int format);\n" +
          plain_y,
      "y[0] = uint(dot4(int(x[0]), int(x[1]), 1));", {"GL_EXT_spirv_intrinsics"});
  EXPECT_THAT(complaint(words), HasSubstr("mine/a.comp: its SPIR-V is invalid"));
}

TEST_F(SpirvRules, NothingHasTwoBindings) {
  const std::vector<std::uint32_t> words =
      module_of("layout(set = 0, binding = 1) spirv_decorate(33, 2) buffer Y { uint y[]; };\n",
                "y[0] = x[0];", {"GL_EXT_spirv_intrinsics"});
  EXPECT_THAT(complaint(words), HasSubstr("mine/a.comp: its SPIR-V has a second decoration Binding"));
}

TEST_F(SpirvRules, AClockIsNotReadWithoutItsCapability) {
  const std::vector<std::uint32_t> words =
      module_of(plain_y + "spirv_instruction(id = 5056) uvec2 now(uint scope);\n", "y[0] = now(3u).x;",
                {"GL_EXT_spirv_intrinsics"});
  EXPECT_THAT(complaint(words), HasSubstr("its SPIR-V has the instruction OpReadClockKHR, which no kernel"));
}

TEST_F(SpirvRules, AClockIsNotReadWithItsCapability) {
  const std::vector<std::uint32_t> words =
      module_of(plain_y, "y[0] = clockRealtime2x32EXT().x;", {"GL_EXT_shader_realtime_clock"});
  EXPECT_THAT(complaint(words), HasSubstr("the shader uses the SPIR-V capability ShaderClockKHR"));
}

TEST_F(SpirvRules, MemoryIsNotReachedByItsAddress) {
  const std::vector<std::uint32_t> words = module_of(
      plain_y + "layout(buffer_reference) buffer P { uint p; };\n", "y[0] = P(uvec2(x[0], x[1])).p;",
      {"GL_EXT_buffer_reference", "GL_EXT_buffer_reference_uvec2"});
  EXPECT_THAT(complaint(words), HasSubstr("the SPIR-V capability PhysicalStorageBufferAddresses"));
}

TEST_F(SpirvRules, PrintfIsNoWayOut) {
  const std::vector<std::uint32_t> words =
      module_of(plain_y, "debugPrintfEXT(\"%u\", x[0]); y[0] = 1u;", {"GL_EXT_debug_printf"});
  EXPECT_THAT(complaint(words), HasSubstr("SPV_KHR_non_semantic_info"));
}

TEST_F(SpirvRules, WhatIsInvalidIsRefused) {
  std::vector<std::uint32_t> words = module_of(plain_y, "y[0] = x[0];");
  for (std::size_t at = 5; at < words.size(); at += words[at] >> 16U) {
    if ((words[at] & 0xFFFFU) == spv::OpStore) std::swap(words[at + 1], words[at + 2]);
  }
  EXPECT_EQ(forbidden_in(words), std::nullopt);
  EXPECT_THAT(complaint(words), HasSubstr("its SPIR-V is invalid"));
}

TEST_F(SpirvRules, AnyBrokenModuleIsAllowedOrRefused) {
  const std::vector<std::uint32_t> module = module_of(plain_y, "y[0] = x[0];");
  std::mt19937 random(5);
  for (int round = 0; round < 1000; ++round) {
    std::vector<std::uint32_t> words = module;
    const std::size_t broken = 5 + random() % (words.size() - 5);
    words[broken] = static_cast<std::uint32_t>(random() % 2 == 0 ? random() : random() % 100);
    EXPECT_NO_FATAL_FAILURE(try { check_module("a", words); } catch (const Error&){});
  }
}

}  // namespace
}  // namespace assay::gpu
