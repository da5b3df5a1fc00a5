#include "harness/gpu/spirv/khr_matrices.h"

#include "harness/gpu/spirv/shader_interface.h"
#include "harness/gpu/spirv/spirv_instructions.h"
#include "harness/gpu/spirv/spirv_rules.h"
#include "tests/support/error_text.h"
#include "tests/support/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

// The rewritten modules are compared with what the specification says of each instruction, since the
// distribution's validator does not know the extension. (Newer ones accept them all.)

namespace assay::gpu {
namespace {

using namespace test;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

struct Part {
  std::uint16_t opcode = 0;
  std::uint32_t type = 0, result = 0;
  std::vector<std::uint32_t> operands;
};

/// A module, by what its instructions define.
struct Module {
  explicit Module(const std::vector<std::uint32_t>& words) {
    each_instruction(words, "a test's module", [&](const SpirvInstruction& one) {
      parts.push_back({one.opcode, one.type, one.result, {one.operands.begin(), one.operands.end()}});
      if (one.result != 0) by_id[one.result] = parts.back();
    });
  }

  std::vector<Part> all(std::uint16_t opcode) const {
    std::vector<Part> found;
    std::ranges::copy_if(parts, std::back_inserter(found),
                         [&](const Part& part) { return part.opcode == opcode; });
    return found;
  }
  std::uint32_t constant(std::uint32_t id) const { return by_id.at(id).operands.at(0); }
  /// "i8 16x32 A"
  std::string type_text(std::uint32_t id) const {
    const Part& type = by_id.at(id);
    if (type.opcode != op_type_matrix_khr) return "no matrix";
    const Part& component = by_id.at(type.operands[0]);
    const bool is_float = component.opcode == spv::OpTypeFloat;
    return fmt::format("{}{} {}x{} {}",
                       is_float                     ? "f"
                       : component.operands[1] != 0 ? "i"
                                                    : "u",
                       component.operands[0], constant(type.operands[2]), constant(type.operands[3]),
                       std::array{"A", "B", "C"}.at(constant(type.operands[4])));
  }
  std::string type_of(std::uint32_t id) const { return type_text(by_id.at(id).type); }
  std::vector<std::string> matrix_types() const {
    std::vector<std::string> texts;
    for (const Part& type : all(op_type_matrix_khr)) texts.push_back(type_text(type.result));
    return texts;
  }

  std::vector<Part> parts;
  std::map<std::uint32_t, Part> by_id;
};

class KhrMatricesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { static const GlslangProcess shared; }

  std::vector<std::uint32_t> compiled(const std::string& body, const std::string& before = "") {
    sources.write("s.comp",
                  "#version 450\n"
                  "#extension GL_KHR_memory_scope_semantics : require\n"
                  "#extension GL_NV_cooperative_matrix : require\n"
                  "#extension GL_NV_integer_cooperative_matrix : require\n"
                  "#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
                  "layout(local_size_x = 32) in;\n"
                  "layout(binding = 0) buffer X { uvec4 x[]; };\n"
                  "layout(binding = 1) buffer Y { uvec4 y[]; };\n" +
                      before + "void main() {\n" + body + "}\n");
    const std::vector<std::uint32_t> words =
        ShaderLibrary({.directories = {sources.path()}, .cache_directory = {}}).compile("s.comp", {}).words;
    EXPECT_EQ(validate_spirv(words), std::nullopt);
    return words;
  }

  Module rewritten(const std::string& body, const std::string& before = "") {
    return Module(with_khr_matrices(compiled(body, before)));
  }

  std::string refusal(const std::string& body, const std::string& before = "") {
    const std::vector<std::uint32_t> words = compiled(body, before);
    return error_of([&] { with_khr_matrices(words); });
  }

  TemporaryFolder sources;
};

constexpr const char* int8_types =
    "#define A icoopmatNV<8, gl_ScopeSubgroup, 16, 32>\n"
    "#define B icoopmatNV<8, gl_ScopeSubgroup, 32, 8>\n"
    "#define C icoopmatNV<32, gl_ScopeSubgroup, 16, 8>\n";

constexpr const char* int8_product =
    "A a; coopMatLoadNV(a, x, 5, 2, false);\n"
    "B b; coopMatLoadNV(b, x, 7, 3, true);\n"
    "C c = C(0);\n"
    "c = coopMatMulAddNV(a, b, c);\n"
    "coopMatStoreNV(c, y, 1, 4, false);\n";

TEST_F(KhrMatricesTest, EachInstructionIsThatOfTheSpecification) {
  const Module made = rewritten(int8_product, int8_types);
  EXPECT_THAT(made.matrix_types(), ElementsAre("i8 16x32 A", "i8 32x8 B", "i32 16x8 C"));
  const std::vector<Part> loads = made.all(op_matrix_load_khr);
  ASSERT_THAT(loads, SizeIs(2));
  EXPECT_EQ(made.type_text(loads[0].type), "i8 16x32 A");
  EXPECT_EQ(made.type_text(loads[1].type), "i8 32x8 B");
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(made.by_id.at(loads[i].operands[0]).opcode, spv::OpAccessChain) << "the pointer";
    EXPECT_EQ(made.constant(loads[i].operands[1]), i) << "the layout: RowMajor, then ColumnMajor";
    EXPECT_EQ(made.constant(loads[i].operands[2]), 2 + i) << "the stride";
  }
  const std::vector<Part> products = made.all(op_matrix_mul_add_khr);
  ASSERT_THAT(products, SizeIs(1));
  EXPECT_EQ(made.type_text(products[0].type), "i32 16x8 C");
  ASSERT_THAT(products[0].operands, SizeIs(4));
  EXPECT_EQ(made.type_of(products[0].operands[0]), "i8 16x32 A");
  EXPECT_EQ(made.type_of(products[0].operands[1]), "i8 32x8 B");
  EXPECT_EQ(made.type_of(products[0].operands[2]), "i32 16x8 C");
  EXPECT_EQ(products[0].operands[3], 0xFU) << "all components are signed";
  const std::vector<Part> stores = made.all(op_matrix_store_khr);
  ASSERT_THAT(stores, SizeIs(1));
  EXPECT_EQ(made.type_of(stores[0].operands[1]), "i32 16x8 C");
  EXPECT_EQ(made.constant(stores[0].operands[2]), 0U);
  EXPECT_EQ(made.constant(stores[0].operands[3]), 4U);
}

TEST_F(KhrMatricesTest, NothingOfTheOtherExtensionIsLeft) {
  const std::vector<std::uint32_t> words = with_khr_matrices(compiled(int8_product, int8_types));
  const Module made(words);
  for (const Part& part : made.parts) {
    EXPECT_FALSE(spv::OpTypeCooperativeMatrixNV <= part.opcode &&
                 part.opcode <= spv::OpCooperativeMatrixLengthNV);
    const bool is_capability = part.opcode == spv::OpCapability;
    EXPECT_FALSE(is_capability && part.operands[0] == spv::CapabilityCooperativeMatrixNV);
  }
  std::vector<std::string> extensions;
  each_instruction(words, "extensions", [&](const SpirvInstruction& one) {
    if (one.opcode == spv::OpExtension) extensions.push_back(one.text(0));
  });
  EXPECT_THAT(extensions, ::testing::Contains("SPV_KHR_cooperative_matrix"));
  EXPECT_EQ(std::ranges::count(extensions, "SPV_NV_cooperative_matrix"), 0);
  EXPECT_EQ(forbidden_in(words), std::nullopt);
}

TEST_F(KhrMatricesTest, TheInterfaceIsReadAsBefore) {
  const std::vector<std::uint32_t> before = compiled(int8_product, int8_types);
  const ShaderInterface was = interface_of(before, {}), is = interface_of(with_khr_matrices(before), {});
  ASSERT_EQ(was.bindings.size(), is.bindings.size());
  for (std::size_t i = 0; i < was.bindings.size(); ++i) {
    EXPECT_EQ(was.bindings[i].is_read, is.bindings[i].is_read) << i;
    EXPECT_EQ(was.bindings[i].is_written, is.bindings[i].is_written) << i;
  }
  EXPECT_THAT(is.capabilities, ::testing::Contains(capability_cooperative_matrix_khr));
}

/// 16 x 16 halves are A, B and sums alike.
TEST_F(KhrMatricesTest, ATypeWithSeveralUsesBecomesSeveralTypes) {
  const Module made = rewritten(
      "M a; coopMatLoadNV(a, x, 0, 2, false);\n"
      "M b; coopMatLoadNV(b, x, 64, 2, true);\n"
      "M sums[2];\n"
      "sums[0] = M(float16_t(1.0)); sums[1] = M(float16_t(2.0));\n"
      "for (int i = 0; i < 2; ++i) sums[i] = coopMatMulAddNV(a, b, sums[i]);\n"
      "M all = sums[0] + sums[1] * float16_t(2);\n"
      "for (int i = 0; i < 8; ++i) all[i] += float16_t(i);\n"
      "coopMatStoreNV(all, y, 0, 2, true);\n",
      "#define M fcoopmatNV<16, gl_ScopeSubgroup, 16, 16>\n");
  EXPECT_THAT(made.matrix_types(), ElementsAre("f16 16x16 A", "f16 16x16 B", "f16 16x16 C"));
  for (const Part& product : made.all(op_matrix_mul_add_khr)) {
    EXPECT_EQ(made.type_of(product.operands[0]), "f16 16x16 A");
    EXPECT_EQ(made.type_of(product.operands[1]), "f16 16x16 B");
    EXPECT_EQ(made.type_of(product.operands[2]), "f16 16x16 C");
    EXPECT_THAT(product.operands, SizeIs(3)) << "floats have no signedness";
  }
  std::set<std::vector<std::uint32_t>> distinct;
  for (const Part& type : made.all(op_type_matrix_khr)) EXPECT_TRUE(distinct.insert(type.operands).second);
}

TEST_F(KhrMatricesTest, FunctionsOfOneTypeMayDifferInTheirUses) {
  const Module made = rewritten(
      "M a = rows(0); M b = columns(64); M c = cleared();\n"
      "add(a, b, c);\n"
      "coopMatStoreNV(c, y, 0, 2, false);\n",
      "#define M fcoopmatNV<16, gl_ScopeSubgroup, 16, 16>\n"
      "M rows(uint at) { M m; coopMatLoadNV(m, x, at, 2, false); return m; }\n"
      "M columns(uint at) { M m; coopMatLoadNV(m, x, at, 2, true); return m; }\n"
      "M cleared() { return M(float16_t(0)); }\n"
      "void add(M a, M b, inout M c) { c = coopMatMulAddNV(a, b, c); }\n");
  std::set<std::string> returned;
  for (const Part& function : made.all(spv::OpFunction)) {
    const Part& type = made.by_id.at(function.operands[1]);
    EXPECT_EQ(type.operands[0], function.type) << "the declared type is that of the result";
    returned.insert(made.type_text(function.type));
  }
  EXPECT_EQ(returned, (std::set<std::string>{"no matrix", "f16 16x16 A", "f16 16x16 B", "f16 16x16 C"}));
  std::set<std::vector<std::uint32_t>> types;
  for (const Part& type : made.all(spv::OpTypeFunction))
    EXPECT_TRUE(types.insert(type.operands).second) << "twice";
}

TEST_F(KhrMatricesTest, AFunctionWhoseResultIsUsedInTwoWaysIsRefused) {
  EXPECT_THAT(refusal("M a = loaded(0); M b = loaded(64); M c = M(float16_t(0));\n"
                      "c = coopMatMulAddNV(a, b, c);\n"
                      "coopMatStoreNV(c, y, 0, 2, false);\n",
                      "#define M fcoopmatNV<16, gl_ScopeSubgroup, 16, 16>\n"
                      "M loaded(uint at) { M m; coopMatLoadNV(m, x, at, 2, false); return m; }\n"),
              HasSubstr("is used as A and as B of products"));
}

TEST_F(KhrMatricesTest, AValueThatIsAnOperandAndASumIsRefused) {
  EXPECT_THAT(refusal("M a; coopMatLoadNV(a, x, 0, 2, false);\n"
                      "M b; coopMatLoadNV(b, x, 64, 2, false);\n"
                      "a = coopMatMulAddNV(a, b, a);\n"
                      "coopMatStoreNV(a, y, 0, 2, false);\n",
                      "#define M fcoopmatNV<16, gl_ScopeSubgroup, 16, 16>\n"),
              HasSubstr("rewriting cooperative matrices from NV to KHR: OpCooperativeMatrixMulAddNV"));
}

TEST_F(KhrMatricesTest, ALengthIsThatOfItsTypesOnlyUse) {
  const Module made = rewritten(std::string(int8_product) +
                                    "for (int i = 0; i < c.length(); ++i) c[i] += 1;\n"
                                    "coopMatStoreNV(c, y, 1, 4, false);\n",
                                int8_types);
  std::vector<std::string> lengths;
  for (const Part& one : made.all(spv::OpSpecConstantOp)) {
    if (one.operands[0] == op_matrix_length_khr) lengths.push_back(made.type_text(one.operands[1]));
  }
  EXPECT_THAT(lengths, ElementsAre("i32 16x8 C"));
  EXPECT_THAT(refusal("M a; coopMatLoadNV(a, x, 0, 2, false);\n"
                      "M b; coopMatLoadNV(b, x, 64, 2, false);\n"
                      "M c = coopMatMulAddNV(a, b, M(float16_t(0)));\n"
                      "for (int i = 0; i < a.length(); ++i) c[i] += a[i];\n"
                      "coopMatStoreNV(c, y, 0, 2, false);\n",
                      "#define M fcoopmatNV<16, gl_ScopeSubgroup, 16, 16>\n"),
              HasSubstr("the length of a type with several uses"));
}

TEST_F(KhrMatricesTest, ManyCopiesAreFollowed) {
  std::string body = int8_product;
  for (int i = 0; i < 2000; ++i) {
    body += fmt::format("C c{} = {};\n", i, i == 0 ? "c" : fmt::format("c{}", i - 1));
  }
  EXPECT_THAT(rewritten(body + "coopMatStoreNV(c1999, y, 1, 4, false);\n", int8_types).matrix_types(),
              SizeIs(3));
}

TEST_F(KhrMatricesTest, WhatIsNoConstantIsNoLayout) {
  EXPECT_THAT(refusal("A a; coopMatLoadNV(a, x, 0, 2, by_columns);\n",
                      std::string(int8_types) + "layout(constant_id = 5) const bool by_columns = false;\n"),
              HasSubstr("its layout is no constant"));
}

TEST_F(KhrMatricesTest, AMatrixInAStructureIsRefused) {
  EXPECT_THAT(refusal("S s; coopMatLoadNV(s.a, x, 0, 2, false); coopMatStoreNV(s.a, y, 0, 2, false);\n",
                      std::string(int8_types) + "struct S { A a; };\n"),
              HasSubstr("a matrix in a structure"));
}

TEST_F(KhrMatricesTest, AModuleWithoutMatricesStaysAsItIs) {
  const std::vector<std::uint32_t> words = compiled("y[0] = x[0];\n");
  EXPECT_EQ(with_khr_matrices(words), words);
}

TEST(MatrixInstruction, ThatIsTooShortOrTooLongIsNone) {
  const auto words = [](std::uint32_t opcode, std::uint32_t count) {
    std::vector<std::uint32_t> made(count, 7);
    made[0] = count << 16 | opcode;
    return made;
  };
  EXPECT_THAT(matrix_instruction(words(op_type_matrix_khr, 7)).ids, SizeIs(5));
  EXPECT_THROW(matrix_instruction(words(op_type_matrix_khr, 6)), Error);
  EXPECT_THROW(matrix_instruction(words(op_type_matrix_khr, 8)), Error);
  EXPECT_THAT(matrix_instruction(words(op_matrix_load_khr, 6)).ids, SizeIs(3));
  EXPECT_THROW(matrix_instruction(words(op_matrix_load_khr, 4)), Error);
  EXPECT_THAT(matrix_instruction(words(op_matrix_mul_add_khr, 7)).ids, SizeIs(3)) << "the mask is no id";
  EXPECT_THROW(matrix_instruction(words(op_matrix_mul_add_khr, 8)), Error);
  EXPECT_THAT(matrix_instruction(words(op_matrix_store_khr, 4)).ids, SizeIs(3));
  EXPECT_EQ(matrix_instruction(words(op_matrix_length_khr, 4)).result, 7U);
}

}  // namespace
}  // namespace assay::gpu
