#include "harness/gpu/program/specialization.h"

#include "tests/support/gpu.h"

namespace assay::gpu {
namespace {

using namespace test;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class SpecializationTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { static const GlslangProcess shared; }  // saves time: see GpuTest

  void SetUp() override {
    sources.write("tiled.comp",
                  shader_text("layout(constant_id = 3) const uint guard_words = 0u;\n"
                              "layout(constant_id = 17) const uint tile_m = 1u;\n"
                              "layout(constant_id = 16) const uint tile_n = 1u;\n"
                              "#if DEEP\nlayout(constant_id = 18) const uint tile_k = 1u;\n#endif\n",
                              ""));
    dispatch.label = "multiply";
    dispatch.shader = "tiled.comp";
    dispatch.defines = {{"DEEP", "0"}};
    dispatch.local_size = {8, 4, 2};
    dispatch.constants = {{"tile_m", 64}, {"tile_n", 32}};
  }

  std::map<std::uint32_t, std::uint32_t> values(std::uint32_t guard = 256) {
    const Spirv spirv = ShaderLibrary({.directories = {sources.path()}, .cache_directory = {}})
                            .compile(dispatch.shader, dispatch.defines);
    return specialization(dispatch, spirv.words, guard);
  }

  std::string complaint() {
    try {
      values();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  TemporaryFolder sources;
  Dispatch dispatch;
};

TEST_F(SpecializationTest, FindsTheIdOfEachNameInTheShader) {
  EXPECT_THAT(values(),
              ElementsAre(Pair(0, 8), Pair(1, 4), Pair(2, 2), Pair(3, 64), Pair(16, 32), Pair(17, 64)));
}

TEST_F(SpecializationTest, RefusesANameThatTheShaderDoesNotHave) {
  dispatch.constants[0].name = "tile";
  EXPECT_EQ(
      complaint(),
      "specializing tiled.comp with DEEP 0 for dispatch 'multiply': the op sets the constant 'tile', which "
      "this variant of the shader does not declare; it declares: tile_m, tile_n");
}

TEST_F(SpecializationTest, RefusesANameThatOnlyAnotherVariantHas) {
  dispatch.constants.push_back({"tile_k", 8});
  EXPECT_THAT(complaint(), HasSubstr("sets the constant 'tile_k', which this variant"));
  dispatch.defines = {{"DEEP", "1"}};
  EXPECT_THAT(values()[18], 8U);
}

TEST_F(SpecializationTest, OthersShadersMayHaveConstantsOfTheirOwn) {
  dispatch.constants.pop_back();
  const Spirv spirv = ShaderLibrary({.directories = {sources.path()}, .cache_directory = {}})
                          .compile(dispatch.shader, dispatch.defines);
  EXPECT_TRUE(spirv.is_foreign);
  EXPECT_THAT(specialization(dispatch, spirv.words, 256, spirv.is_foreign),
              ElementsAre(Pair(0, 8), Pair(1, 4), Pair(2, 2), Pair(3, 64), Pair(17, 64)));
}

TEST_F(SpecializationTest, RefusesToLeaveAConstantUnset) {
  dispatch.constants.pop_back();
  EXPECT_EQ(complaint(),
            "specializing tiled.comp with DEEP 0 for dispatch 'multiply': the shader declares the constant "
            "'tile_n', which the op does not set; it sets: tile_m");
}

TEST_F(SpecializationTest, RefusesANameThatIsSetTwice) {
  dispatch.constants.push_back({"tile_m", 64});
  EXPECT_THAT(complaint(), HasSubstr("the op sets the constant 'tile_m' twice"));
}

TEST_F(SpecializationTest, RefusesWhatTheRunnerSets) {
  dispatch.constants.push_back({"guard_words", 64});
  EXPECT_THAT(complaint(), HasSubstr("'guard_words' is set by the runner, not by an op"));
}

TEST_F(SpecializationTest, OfAShaderThatDeclaresNothingIsTheLocalSize) {
  sources.write("plain.comp", shader_text("", ""));
  dispatch.shader = "plain.comp";
  dispatch.defines = {};
  EXPECT_THAT(complaint(),
              AllOf(HasSubstr("specializing plain.comp for dispatch"), HasSubstr("it declares: none")));
  dispatch.constants = {};
  EXPECT_THAT(values(), ElementsAre(Pair(0, 8), Pair(1, 4), Pair(2, 2)));
}

}  // namespace
}  // namespace assay::gpu
