#include "harness/gpu/spirv/module_declarations.h"

#include "harness/gpu/spirv/shader_interface.h"
#include "harness/gpu/spirv/spirv_rewrites.h"
#include "tests/support/error_text.h"
#include "tests/support/gpu.h"

#include <spirv-tools/libspirv.hpp>

#include <random>

namespace assay::gpu {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using NumberKind = NumberType::Kind;

class DeclaredConstantsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { static const GlslangProcess shared; }  // saves time: see GpuTest

  std::vector<std::uint32_t> compile(const std::string& declarations, const std::string& body = "",
                                     const std::vector<Define>& defines = {}) {
    sources.write("s.comp", shader_text(declarations, body));
    return ShaderLibrary({.directories = {sources.path()}, .cache_directory = {}})
        .compile("s.comp", defines)
        .words;
  }

  TemporaryFolder sources;
};

const DeclaredConstant x{0, ""}, y{1, ""}, z{2, ""};  // dimensions of the workgroup

std::string complaint(std::span<const std::uint32_t> words) {
  try {
    declared_constants(words);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(DeclaredConstantsTest, HaveTheirNamesWhetherUsedOrNot) {
  EXPECT_THAT(declared_constants(compile("layout(constant_id = 21) const float b = 1.0;\n"
                                         "layout(constant_id = 16) const int a_name_of_20_letters = 1;\n"
                                         "layout(constant_id = 17) const bool c = false;\n"
                                         "layout(constant_id = 3) const uint four = 0u;\n" +
                                             buffers({"y"}),
                                         "y.data[0] = four;")),
              ElementsAre(x, y, z, DeclaredConstant{3, "four"}, DeclaredConstant{16, "a_name_of_20_letters"},
                          DeclaredConstant{17, "c"}, DeclaredConstant{21, "b"}));
}

TEST_F(DeclaredConstantsTest, HaveTheirNamesAsSizesOfArraysAndInsideOfOtherConstants) {
  EXPECT_THAT(declared_constants(compile("layout(constant_id = 16) const uint size = 4u;\n"
                                         "layout(constant_id = 17) const uint factor = 4u;\n"
                                         "const uint product = factor * 2u + 1u;\n"
                                         "shared uint a[size];\nshared uint b[product];\n",
                                         "a[0] = 1u; b[0] = a[0];")),
              ElementsAre(x, y, z, DeclaredConstant{16, "size"}, DeclaredConstant{17, "factor"}));
}

TEST_F(DeclaredConstantsTest, AreThoseOfTheVariantAlone) {
  const std::string declarations =
      "#if DEEP\nlayout(constant_id = 16) const uint depth = 4u;\n#else\n"
      "layout(constant_id = 16) const uint breadth = 4u;\n#endif\n";
  EXPECT_THAT(declared_constants(compile(declarations, "", {{"DEEP", "1"}})),
              ElementsAre(x, y, z, DeclaredConstant{16, "depth"}));
  EXPECT_THAT(declared_constants(compile(declarations, "", {{"DEEP", "0"}})),
              ElementsAre(x, y, z, DeclaredConstant{16, "breadth"}));
}

TEST_F(DeclaredConstantsTest, MustHave32Bits) {
  EXPECT_THAT(complaint(compile("layout(constant_id = 16) const double wide = 1.0lf;\n")),
              HasSubstr("constant 'wide' (constant_id 16) is not 32 bits wide"));
}

TEST_F(DeclaredConstantsTest, AreReadWithoutTheFunctionsAfterThem) {
  std::vector<std::uint32_t> words = compile("layout(constant_id = 16) const uint size = 4u;\n");
  const std::vector<DeclaredConstant> all = declared_constants(words);
  words.push_back(0);  // an instruction without words
  EXPECT_EQ(declared_constants(words), all);
  EXPECT_THROW(declarations_of(words), Error);
}

TEST_F(DeclaredConstantsTest, AreRefusedInWhatIsNoModule) {
  EXPECT_THAT(complaint({}), HasSubstr("reading the specialization constants of a SPIR-V module"));
  std::vector<std::uint32_t> words = compile("");
  words[0] ^= 1U;
  EXPECT_THAT(complaint(words), HasSubstr("Invalid SPIR-V magic number"));
}

TEST_F(DeclaredConstantsTest, AreRefusedWhereAnInstructionIsCutOrHasNoLength) {
  const std::vector<std::uint32_t> header{0x07230203, 0x00010300, 0, 10, 0};
  const auto with = [&](std::vector<std::uint32_t> instruction) {
    std::vector<std::uint32_t> words = header;
    words.insert(words.end(), instruction.begin(), instruction.end());
    return complaint(words);
  };
  const auto is_refused = HasSubstr("reading the specialization constants of a SPIR-V module: ");
  EXPECT_THAT(with({0x00000005}), is_refused) << "no length";
  EXPECT_THAT(with({0x00040005, 1, 0}), is_refused) << "shorter than it says";
  EXPECT_THAT(with({0x00030047, 1, 1}), is_refused) << "an operand too few";
  EXPECT_THAT(with({0x00030005, 1, 0x61616161}), is_refused) << "a name without an end";
}

TEST_F(DeclaredConstantsTest, OfAnyBrokenModuleAreReadOrRefused) {
  const std::vector<std::uint32_t> module =
      compile("layout(constant_id = 16) const uint a = 1u;\n" + buffers({"y"}), "y.data[0] = a;");
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint32_t> words = module;
    words.resize(1 + random() % words.size());
    const std::size_t broken = random() % words.size();
    words[broken] = static_cast<std::uint32_t>(random() % 2 == 0 ? random() : random() % 100);
    try {
      EXPECT_LE(declared_constants(words).size(), module.size());
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("specialization constants of a SPIR-V module"));
    }
  }
}

class ModuleDeclarationsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { static const GlslangProcess shared; }  // saves time: see GpuTest

  std::vector<std::uint32_t> compile(const std::string& declarations, const std::string& body) {
    sources.write("s.comp", shader_text(declarations, body));
    return ShaderLibrary({.directories = {sources.path()}, .cache_directory = {}})
        .compile("s.comp", {})
        .words;
  }

  TemporaryFolder sources;
};

/// A module with one compute shader of that name, which reads a built-in. The size of its workgroups is
/// fixed, and declared as a constant, too, if it `has_constant_size`.
std::vector<std::uint32_t> module_with_entry(const std::string& name, bool has_constant_size = false) {
  std::string text =
      "OpCapability Shader\n"
      "OpMemoryModel Logical GLSL450\n"
      "OpEntryPoint GLCompute %f \"" +
      name +
      "\" %id\n"
      "OpExecutionMode %f LocalSize 8 4 1\n"
      "OpDecorate %id BuiltIn GlobalInvocationId\n";
  if (has_constant_size) text += "OpDecorate %size BuiltIn WorkgroupSize\n";
  text +=
      "%void = OpTypeVoid\n"
      "%fn = OpTypeFunction %void\n"
      "%u = OpTypeInt 32 0\n"
      "%v3 = OpTypeVector %u 3\n"
      "%p = OpTypePointer Input %v3\n"
      "%id = OpVariable %p Input\n";
  if (has_constant_size) text += "%one = OpConstant %u 1\n%size = OpConstantComposite %v3 %one %one %one\n";
  text +=
      "%f = OpFunction %void None %fn\n"
      "%l = OpLabel\n"
      "%v = OpLoad %v3 %id\n"
      "OpReturn\n"
      "OpFunctionEnd\n";
  std::vector<std::uint32_t> words;
  EXPECT_TRUE(spvtools::SpirvTools(SPV_ENV_VULKAN_1_1).Assemble(text, &words));
  return words;
}

TEST(EntryMain, IsTheNameOfTheOnlyEntryPointWhateverItWas) {
  const std::vector<std::uint32_t> main = module_with_entry("main");
  for (const char* name : {"main", "f", "abc", "computeMain", "a_very_long_name_of_an_entry_point"}) {
    const std::vector<std::uint32_t> made = with_entry_main(module_with_entry(name));
    EXPECT_EQ(made, main) << name;
  }
}

TEST_F(ModuleDeclarationsTest, AModuleOfAFileMayHaveAnEntryPointOfAnyName) {
  const std::vector<std::uint32_t> words = module_with_entry("computeMain");
  sources.write("s.spv", {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(words[0])});
  ShaderLibrary library({.directories = {sources.path()}, .cache_directory = {}});
  EXPECT_EQ(library.compile("s.spv", {}).words, module_with_entry("main"));
}

TEST(LocalSize, IsReplacedWhereItIsFixed) {
  const std::vector<std::uint32_t> words = module_with_entry("main");
  const auto made = with_local_size(words, {2, 3, 5});
  ASSERT_TRUE(made);
  EXPECT_EQ(interface_of(*made, {}).local_size, (std::array<std::uint32_t, 3>{2, 3, 5}));
  EXPECT_EQ(with_local_size(*made, {8, 4, 1}), words) << "nothing else is changed";
}

TEST_F(ModuleDeclarationsTest, ALocalSizeThatConstantsDecideOrAreIsNotReplaced) {
  const auto compiled = [&](const std::string& text) {
    sources.write("s.comp", "#version 450\n" + text);
    return ShaderLibrary({.directories = {sources.path()}, .cache_directory = {}})
        .compile("s.comp", {})
        .words;
  };
  EXPECT_EQ(with_local_size(compiled("layout(local_size_x_id = 0) in;\nvoid main() {}\n"), {8, 1, 1}),
            std::nullopt);
  EXPECT_EQ(with_local_size(module_with_entry("main", /*has_constant_size=*/true), {8, 1, 1}), std::nullopt);
  EXPECT_TRUE(with_local_size(compiled("void main() {}\n"), {8, 1, 1}));
}

TEST_F(ModuleDeclarationsTest, HasEveryNumberOfABlockWithItsPathAndOffset) {
  const ModuleDeclarations found = declarations_of(
      compile("#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
              "struct Pair { int a; vec2 b; };\n"
              "layout(push_constant) uniform P { uint n; Pair pairs[2]; mat2 m; int64_t big; } p;\n",
              "if (p.n > 1u) return;"));
  const std::vector<BlockMember> expected{{"n", "0", 0, {NumberKind::Unsigned, 32}},
                                          {"pairs[0].a", "1[0].0", 8, {NumberKind::Signed, 32}},
                                          {"pairs[0].b.x", "1[0].1[0]", 16, {NumberKind::Float, 32}},
                                          {"pairs[0].b.y", "1[0].1[1]", 20, {NumberKind::Float, 32}},
                                          {"pairs[1].a", "1[1].0", 24, {NumberKind::Signed, 32}},
                                          {"pairs[1].b.x", "1[1].1[0]", 32, {NumberKind::Float, 32}},
                                          {"pairs[1].b.y", "1[1].1[1]", 36, {NumberKind::Float, 32}},
                                          {"m[0].x", "2[0][0]", 40, {NumberKind::Float, 32}},
                                          {"m[0].y", "2[0][1]", 44, {NumberKind::Float, 32}},
                                          {"m[1].x", "2[1][0]", 48, {NumberKind::Float, 32}},
                                          {"m[1].y", "2[1][1]", 52, {NumberKind::Float, 32}},
                                          {"big", "3", 56, {NumberKind::Signed, 64}}};
  EXPECT_EQ(found.push, expected);
}

TEST_F(ModuleDeclarationsTest, HasConstantsWithTheSidesOfTheWorkgroup) {
  const ModuleDeclarations found = declarations_of(compile(
      "layout(constant_id = 9) const float scale = 1.0;\nlayout(constant_id = 4) const bool flag = true;\n",
      "if (flag && scale > 2.0) return;"));
  EXPECT_THAT(found.constants,
              ElementsAre(SpecializationConstant{0, "local_size_x", {NumberKind::Unsigned, 32}},
                          SpecializationConstant{1, "local_size_y", {NumberKind::Unsigned, 32}},
                          SpecializationConstant{2, "local_size_z", {NumberKind::Unsigned, 32}},
                          SpecializationConstant{4, "flag", {NumberKind::Boolean, 32}},
                          SpecializationConstant{9, "scale", {NumberKind::Float, 32}}));
}

TEST_F(ModuleDeclarationsTest, VariablesHaveAllTheirNamesAndSayWhoseLengthIsAsked) {
  const ModuleDeclarations found =
      declarations_of(compile("layout(set = 1, binding = 2) buffer A { uint a[]; };\n"
                              "layout(set = 0, binding = 7) readonly buffer B { uint n; uint b[]; } named;\n"
                              "layout(set = 0, binding = 1) uniform C { float c; };\n",
                              "a[0] = named.b.length() + uint(c);"));
  ASSERT_EQ(found.variables.size(), 3U);
  EXPECT_THAT(found.variables[0].names, ElementsAre("C", "c"));
  EXPECT_TRUE(found.variables[0].is_uniform);
  EXPECT_THAT(found.variables[0].members, ElementsAre(BlockMember{"c", "0", 0, {NumberKind::Float, 32}}));
  EXPECT_THAT(found.variables[1].names, ElementsAre("named", "B"));
  EXPECT_TRUE(found.variables[1].asks_length);
  EXPECT_THAT(found.variables[2].names, ElementsAre("A", "a"));
  EXPECT_FALSE(found.variables[2].asks_length);
}

TEST_F(ModuleDeclarationsTest, ABlockOfTooManyMembersIsAnError) {
  const auto words =
      compile("layout(set = 0, binding = 1) uniform C { vec4 c[4000]; };\n", "if (c[1].x > 1.0) return;");
  EXPECT_THAT(error_of([&] { declarations_of(words); }), HasSubstr("a block has more than 4096 members"));
}

TEST_F(ModuleDeclarationsTest, ARowMajorMatrixIsAnError) {
  const auto words = compile("layout(push_constant) uniform P { layout(row_major) mat2 m; } p;\n",
                             "if (p.m[0][0] > 1.0) return;");
  EXPECT_THAT(error_of([&] { declarations_of(words); }), HasSubstr("'m' is a row-major matrix"));
}

TEST_F(ModuleDeclarationsTest, PlacesMoveAndNothingElse) {
  const auto words = compile(
      "layout(set = 1, binding = 2) buffer A { uint a[]; };\nlayout(set = 3, binding = 2) buffer B { uint "
      "b[]; };\n",
      "a[0] = b[0];");
  const auto moved = with_places(words, [](BindingPlace from) -> BindingPlace {
    return from == BindingPlace{1, 2} ? BindingPlace{0, 1} : BindingPlace{0, 0};
  });
  const ModuleDeclarations found = declarations_of(moved);
  ASSERT_EQ(found.variables.size(), 2U);
  EXPECT_THAT(found.variables[0].names, ElementsAre("B", "b"));
  EXPECT_THAT(found.variables[1].names, ElementsAre("A", "a"));
  EXPECT_EQ(found.variables[1].binding, 1U);
  const auto back = with_places(moved, [](BindingPlace from) -> BindingPlace {
    return from == BindingPlace{0, 1} ? BindingPlace{1, 2} : BindingPlace{3, 2};
  });
  EXPECT_EQ(back, words);
}

}  // namespace

}  // namespace assay::gpu
