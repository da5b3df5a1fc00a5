#include "harness/gpu/spirv/uninitialized.h"

#include "harness/gpu/gpu.h"
#include "harness/gpu/spirv/shader_interface.h"
#include "harness/gpu/spirv/spirv_rules.h"
#include "tests/support/gpu.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::gpu {
namespace {

using namespace test;
using ::testing::Each;
using ::testing::ElementsAre;

class UninitializedTest : public GpuTest {
 protected:
  static std::string shader(const std::string& body) {
    return "#version 450\n#extension GL_EXT_shader_16bit_storage : require\n"
           "#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
           "layout(local_size_x_id = 0) in;\n"
           "layout(constant_id = 20) const uint size = 3u;\n"
           "layout(set = 0, binding = 0) buffer Y { uint data[]; } y;\n" +
           body;
  }

  std::vector<std::uint32_t> compile(const std::string& body) {
    directory.write("s.comp", shader(body));
    return ShaderLibrary({.directories = {directory.path()}, .cache_directory = {}})
        .compile("s.comp", {})
        .words;
  }

  bool may_read(const std::string& body) { return may_read_uninitialized(compile(body)); }

  /// What a shader writes to its first four words.
  std::vector<std::uint32_t> run(const std::string& body, Uninitialized uninitialized) {
    directory.write("s.comp", shader(body));
    ShaderLibrary library({.directories = {directory.path()}, .cache_directory = {}});
    Program program;
    program.dispatches.push_back({.label = "test",
                                  .shader = "s.comp",
                                  .local_size = {1, 1, 1},
                                  .constants = {{"size", 5U}},
                                  .bindings = {Resource::tensor(0)}});
    const std::vector<Physical> tensors{words(4)};
    Executable runnable(device(), library, program, tensors, 0, {}, uninitialized);
    Workspace memory(device(), program, tensors, 0);
    memory.write(Resource::tensor(0), bytes_of(std::vector<std::uint32_t>(4, 0U)));
    runnable.run(memory, "test", timeout_s);
    return words_of(memory.read(Resource::tensor(0)));
  }

  /// What it writes with both signs, in no order.
  std::vector<std::vector<std::uint32_t>> run_both(const std::string& body) {
    return {run(body, Uninitialized::Usual), run(body, Uninitialized::Other)};
  }
};

/// One of each type, in a function and outside of all.
constexpr const char* many_types = R"(
struct Part { float f; uvec3 u; bool b[2]; };
float of_all[4];
uint called(Part given, uint seed) { uint sum; int i; Part own = given; return sum + seed + uint(i) + own.u.x; }
void main() {
  float16_t half_of_it; double twice; uint8_t byte; int16_t short_one; uint64_t long_one;
  mat2x3 matrix; Part part; Part parts[3]; uint sized[size]; vec4 four;
  y.data[0] = called(part, sized[1]) + uint(half_of_it) + uint(twice) + byte + short_one + uint(long_one) +
              uint(matrix[0].x + four.y + of_all[2]) + parts[1].u.y;
}
)";

TEST_F(UninitializedTest, AModuleWithInitialValuesIsValid) {
  const std::vector<std::uint32_t> words = compile(many_types);
  for (const PoisonSign sign : {PoisonSign::Positive, PoisonSign::Negative}) {
    const std::vector<std::uint32_t> made = with_poisoned_variables(words, {{20, 3}}, sign);
    EXPECT_EQ(validate_spirv(made), std::nullopt);
    EXPECT_GT(made.size(), words.size());
    EXPECT_EQ(interface_of(made, {}).shared_bytes, interface_of(words, {}).shared_bytes);
    EXPECT_EQ(with_poisoned_variables(made, {{20, 3}}, sign), made) << "what has a value keeps it";
  }
}

TEST_F(UninitializedTest, WhatHasNoVariablesIsTheSame) {
  const std::vector<std::uint32_t> words = compile("void main() { y.data[0] = 1u; }");
  EXPECT_EQ(with_poisoned_variables(words, {}, PoisonSign::Positive), words);
  EXPECT_TRUE(with_poisoned_variables({}, {}, PoisonSign::Positive).empty());
}

TEST_F(UninitializedTest, NumbersAreFarFromZeroWithBothSigns) {
  EXPECT_THAT(run_both("void main() { float f; y.data[0] = f < -1e29 || f > 1e29 ? 1u : 2u; }"),
              Each(ElementsAre(1, 0, 0, 0)));
  EXPECT_THAT(run_both("void main() { float f; y.data[0] = f < 0.0 ? 1u : 2u; }"),
              ::testing::UnorderedElementsAre(ElementsAre(1, 0, 0, 0), ElementsAre(2, 0, 0, 0)));
  EXPECT_THAT(run_both("void main() { int i; y.data[0] = uint(abs(i)); }"), Each(ElementsAre(107, 0, 0, 0)));
  EXPECT_THAT(run_both("void main() { uint u; bool b; y.data[0] = u; y.data[1] = b ? 1u : 2u; }"),
              ::testing::UnorderedElementsAre(ElementsAre(107, 1, 0, 0), ElementsAre(27499, 2, 0, 0)));
}

TEST_F(UninitializedTest, ArraysHaveTheSizeOfTheirConstants) {
  EXPECT_THAT(run_both("void main() { float a[size]; for (uint i = 0u; i < size; ++i)\n"
                       "  y.data[0] += abs(a[i]) > 1e29 ? 1u : 0u; }"),
              Each(ElementsAre(5, 0, 0, 0)));
}

TEST_F(UninitializedTest, WhatIsSetIsNotChanged) {
  const std::string right =
      "uint product(uint a, uint b) { uint made = a; made *= b; return made; }\n"
      "void main() { uint all = 0u; for (uint i = 1u; i < size; ++i) all += product(i, 2u);\n"
      "  uint last; if (all > 3u) { last = all; } else { last = 7u; } y.data[0] = last; }";
  EXPECT_FALSE(may_read(right));
  EXPECT_THAT(run_both(right), Each(ElementsAre(20, 0, 0, 0)));
}

TEST_F(UninitializedTest, AVariableThatIsSetOnSomeWaysMayBeRead) {
  EXPECT_TRUE(may_read("void main() { uint n; y.data[0] = n; }"));
  EXPECT_TRUE(may_read("void main() { uint n; if (y.data[1] > 0u) n = 1u; y.data[0] = n; }"));
  EXPECT_TRUE(may_read("void main() { uint n; for (uint i = 0u; i < size; ++i) n += i; y.data[0] = n; }"));
  EXPECT_TRUE(may_read("void main() { uint n; for (uint i = 0u; i < size; ++i) n = i; y.data[0] = n; }"));
  EXPECT_TRUE(
      may_read("void add(inout uint n) { n += 1u; }\nvoid main() { uint n; add(n); y.data[0] = n; }"));
  EXPECT_TRUE(may_read("uint n;\nvoid main() { y.data[0] = n; }"));
}

TEST_F(UninitializedTest, AVariableThatIsSetOnAllWaysIsNotRead) {
  EXPECT_FALSE(may_read("void main() { y.data[0] = 1u; }"));
  EXPECT_FALSE(may_read("void main() { uint n; n = y.data[1]; y.data[0] = n; }"));
  EXPECT_FALSE(may_read("void main() { uint n; if (y.data[1] > 0u) n = 1u; else n = 2u; y.data[0] = n; }"));
  EXPECT_FALSE(
      may_read("void main() { for (uint i = 0u; i < size; ++i) {\n"
               "  uint n = y.data[i]; if (n == 7u) continue; y.data[0] += n; } }"));
  EXPECT_FALSE(may_read("uint twice(uint n) { return n * 2u; }\nvoid main() { y.data[0] = twice(size); }"));
}

TEST_F(UninitializedTest, WhatIsNoModuleMayReadThem) {
  EXPECT_TRUE(may_read_uninitialized(std::vector<std::uint32_t>{1, 2, 3}));
}

}  // namespace
}  // namespace assay::gpu
