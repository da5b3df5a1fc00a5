#include "harness/gpu/spirv/float_modes.h"

#include "harness/gpu/gpu.h"
#include "harness/gpu/spirv/spirv_instructions.h"
#include "harness/gpu/spirv/spirv_rules.h"
#include "tests/support/gpu.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace assay::gpu {
namespace {

using namespace test;

constexpr FloatModes both{.rounds_to_even = true, .keeps_subnormals_16 = true};

class FloatModesTest : public ::testing::Test {
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

std::vector<std::uint32_t> words_with(std::span<const std::uint32_t> words, const FloatModes& modes) {
  return with_float_modes(words, modes).words;
}

/// The execution modes of a module that are about floats, with the width.
std::multiset<std::pair<std::uint32_t, std::uint32_t>> float_modes(std::span<const std::uint32_t> words) {
  std::multiset<std::pair<std::uint32_t, std::uint32_t>> found;
  each_instruction(words, "modes", [&](const SpirvInstruction& instruction) {
    if (instruction.opcode == spv::OpExecutionMode && instruction.operands.size() == 3)
      found.emplace(instruction.operands[1], instruction.operands[2]);
  });
  return found;
}

using Modes = std::multiset<std::pair<std::uint32_t, std::uint32_t>>;
const Modes modes_of_both{{spv::ExecutionModeRoundingModeRTE, 16},
                          {spv::ExecutionModeRoundingModeRTE, 32},
                          {spv::ExecutionModeDenormPreserve, 16}};

const std::string packs = shader_text(buffers({"y"}), "y.data[0] = packHalf2x16(vec2(y.data[1], 3.0));");
const std::string unpacks = shader_text(buffers({"y"}), "y.data[0] = uint(unpackHalf2x16(y.data[1]).x);");

TEST_F(FloatModesTest, ConversionsGetTheModesAndStayValid) {
  for (const std::string& text : {packs, unpacks}) {
    const std::vector<std::uint32_t> made = words_with(compile(text), both);
    EXPECT_EQ(float_modes(made), modes_of_both);
    EXPECT_EQ(validate_spirv(made), std::nullopt);
    EXPECT_EQ(words_with(made, both), made) << "a module with modes keeps them";
  }
}

TEST_F(FloatModesTest, EachModeIsDemandedByItself) {
  const std::vector<std::uint32_t> words = compile(packs);
  EXPECT_EQ(float_modes(words_with(words, {.rounds_to_even = true})),
            (Modes{{spv::ExecutionModeRoundingModeRTE, 16}, {spv::ExecutionModeRoundingModeRTE, 32}}));
  EXPECT_EQ(float_modes(words_with(words, {.keeps_subnormals_16 = true})),
            (Modes{{spv::ExecutionModeDenormPreserve, 16}}));
  EXPECT_EQ(words_with(words, {}), words);
}

TEST_F(FloatModesTest, ArithmeticWithHalvesGetsThem) {
  const std::vector<std::uint32_t> words = compile(
      shader_text("#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n" + buffers({"y"}),
                  "y.data[0] = uint(float16_t(y.data[1]) * float16_t(y.data[2]));"));
  const std::vector<std::uint32_t> made = words_with(words, both);
  EXPECT_EQ(float_modes(made),
            (Modes{{spv::ExecutionModeRoundingModeRTE, 16}, {spv::ExecutionModeDenormPreserve, 16}}))
      << "it has no floats of 32 bits";
  EXPECT_EQ(validate_spirv(made), std::nullopt);
}

TEST_F(FloatModesTest, TheOppositeOfAModeStays) {
  const std::string flushing =
      "#extension GL_EXT_spirv_intrinsics : require\n"
      "spirv_execution_mode(extensions = [\"SPV_KHR_float_controls\"], capabilities = [4465], 4460, 16);\n";
  const std::vector<std::uint32_t> words =
      compile(shader_text(flushing + buffers({"y"}), "y.data[0] = packHalf2x16(vec2(y.data[1], 3.0));"));
  EXPECT_EQ(words_with(words, {.keeps_subnormals_16 = true}), words);
  EXPECT_EQ(float_modes(words_with(words, both)), (Modes{{spv::ExecutionModeDenormFlushToZero, 16},
                                                         {spv::ExecutionModeRoundingModeRTE, 16},
                                                         {spv::ExecutionModeRoundingModeRTE, 32}}));
}

TEST_F(FloatModesTest, RoundingIsDemandedOfBothWidthsOrOfNone) {
  const std::string to_zero =
      "#extension GL_EXT_spirv_intrinsics : require\n"
      "spirv_execution_mode(extensions = [\"SPV_KHR_float_controls\"], capabilities = [4468], 4463, 32);\n";
  const std::vector<std::uint32_t> words =
      compile(shader_text(to_zero + buffers({"y"}), "y.data[0] = packHalf2x16(vec2(y.data[1], 3.0));"));
  EXPECT_EQ(words_with(words, {.rounds_to_even = true}), words);
}

TEST_F(FloatModesTest, WhatIsAddedHasAText) {
  const std::vector<std::uint32_t> words = compile(packs);
  EXPECT_EQ(with_float_modes(words, both).added, "RoundingModeRTE 16, RoundingModeRTE 32, DenormPreserve 16");
  EXPECT_EQ(with_float_modes(words_with(words, both), both).added, "");
}

TEST_F(FloatModesTest, AModuleWithoutHalvesIsTheSame) {
  const std::vector<std::uint32_t> words =
      compile(shader_text(buffers({"y"}), "y.data[0] = packUnorm2x16(vec2(y.data[1], 3.0));"));
  EXPECT_EQ(words_with(words, both), words);
}

TEST_F(FloatModesTest, AModeThatIsThereIsNotDemandedTwice) {
  const std::string rounding =
      "#extension GL_EXT_spirv_intrinsics : require\n"
      "spirv_execution_mode(extensions = [\"SPV_KHR_float_controls\"], capabilities = [4467], 4462, 32);\n";
  const std::vector<std::uint32_t> made = words_with(
      compile(shader_text(rounding + buffers({"y"}), "y.data[0] = packHalf2x16(vec2(y.data[1], 3.0));")),
      both);
  EXPECT_EQ(float_modes(made), modes_of_both) << "RTE 32 once";
  EXPECT_EQ(validate_spirv(made), std::nullopt);
}

}  // namespace
}  // namespace assay::gpu
