#include "harness/gpu/program/external_call.h"

#include "tests/support/error_text.h"
#include "tests/support/gpu.h"

#include <numeric>

namespace assay::gpu {
namespace {

using namespace test;

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint32_t count = 96;

/// Calls kernels that know none of this harness's conventions.
class ExternalCallTest : public GpuTest {
 protected:
  Program program_of(const std::string& text, ExternalCall call, std::vector<Binding> bindings) {
    directory.write("k.comp", text);
    call.folders = {directory.path()};
    Program program;
    program.dispatches.push_back({.label = "k",
                                  .shader = "k.comp",
                                  .workgroups = {3, 1, 1},
                                  .bindings = std::move(bindings),
                                  .external = std::move(call)});
    return program;
  }

  Executable built(const Program& program, const std::vector<Physical>& tensors) {
    ShaderLibrary library({.directories = {}, .cache_directory = {}});
    return {device(), library, program, tensors, guard_bytes};
  }

  /// Runs the program over x = 0, 1, 2, ... and y of poison; returns all of y's allocation.
  std::vector<std::uint32_t> run(const Program& program, std::uint32_t y_words = count) {
    const std::vector<Physical> tensors{words(count), words(y_words)};
    Workspace memory = workspace(program, tensors);
    std::vector<std::uint32_t> x(count + 2 * guard_words, poison);
    std::iota(x.begin() + guard_words, x.end() - guard_words, 0U);
    memory.write(Resource::tensor(0), bytes_of(x));
    memory.write(Resource::tensor(1),
                 bytes_of(std::vector<std::uint32_t>(y_words + 2 * guard_words, poison)));
    built(program, tensors).run(memory, "k", timeout_s);
    return words_of(memory.read(Resource::tensor(1)));
  }

  static std::vector<std::uint32_t> data_in(const std::vector<std::uint32_t>& all) {
    return {all.begin() + guard_words, all.end() - guard_words};
  }

  /// The message with which a call of the kernel fails.
  std::string refusal(const std::string& text, const ExternalCall& call,
                      const std::vector<Binding>& bindings = {Resource::tensor(0), Resource::tensor(1)}) {
    const Program program = program_of(text, call, bindings);
    return error_of([&] { built(program, {words(count), words(count)}); });
  }

  static constexpr std::uint32_t guard_words = guard_bytes / sizeof(std::uint32_t);
  static constexpr std::uint32_t poison = 0xA5A5A5A5;
};

constexpr const char* foreign = R"(#version 450
layout(local_size_x_id = 7) in;
layout(constant_id = 0) const int factor = 1;
layout(constant_id = 2) const float half_ = 1.0;
struct Inner { uint a; uvec2 b; };
layout(push_constant) uniform Push { uint columns; Inner inner[2]; } p;
layout(set = 3, binding = 9) readonly buffer X { uint x[]; };
layout(set = 1, binding = 4) writeonly buffer Y { uint data[]; } result;
layout(set = 1, binding = 5) uniform Block { uint plus; float f; ivec3 v; } block;
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= p.columns) return;
  result.data[i] = x[i] * uint(factor) + p.inner[1].b.y + block.plus + uint(block.v.z) +
                   uint(block.f * half_);
}
)";

ExternalCall good_call() {
  return {.places = {"x", "result"},
          .constants = {{"local_size_x", std::int64_t{32}}, {"0", std::int64_t{3}}, {"half_", 0.5}},
          .push = {{"columns", std::int64_t{count}},
                   {"inner[0].a", std::int64_t{1}},
                   {"inner[0].b.x", std::int64_t{1}},
                   {"inner[0].b.y", std::int64_t{1}},
                   {"1[1].0", std::int64_t{1}},
                   {"inner[1].b.x", std::int64_t{1}},
                   {"inner[1].b.y", std::int64_t{1000}}},
          .uniforms = {{"Block.plus", std::int64_t{20000}},
                       {"block.f", 8.0},
                       {"1.5.v.x", std::int64_t{0}},
                       {"Block.v.y", std::int64_t{0}},
                       {"Block.v.z", std::int64_t{300000}}}};
}

TEST_F(ExternalCallTest, FindsEverythingByNameAndNumber) {
  const std::vector<std::uint32_t> y =
      data_in(run(program_of(foreign, good_call(), {Resource::tensor(0), Resource::tensor(1)})));
  for (std::uint32_t i = 0; i < count; ++i) EXPECT_EQ(y[i], i * 3 + 1000 + 20000 + 300000 + 4) << i;
}

TEST_F(ExternalCallTest, SaysWhichNamesThereAre) {
  ExternalCall call = good_call();
  call.push.back().name = "p.inner[1].b.y";
  EXPECT_THAT(refusal(foreign, call),
              AllOf(HasSubstr("calling the kernel k.comp in dispatch 'k'"),
                    HasSubstr("no member of the push constants is called 'p.inner[1].b.y'"),
                    HasSubstr("columns, inner[0].a, inner[0].b.x")));
  call.declared_at = "op.yaml:18:9";
  EXPECT_THAT(refusal(foreign, call), HasSubstr("op.yaml:18:9: calling the kernel k.comp in dispatch 'k'"));
  call = good_call();
  call.push.clear();
  EXPECT_THAT(refusal(foreign, call),
              HasSubstr("members of the push constants get no value: columns, inner[0].a"));
  call = good_call();
  call.places[0] = "z";
  call.push.clear();
  EXPECT_THAT(refusal(foreign, call), HasSubstr("get no value")) << "push constants come first";
  call = good_call();
  call.constants.push_back({"nothing", std::int64_t{1}});
  EXPECT_THAT(
      refusal(foreign, call),
      HasSubstr("no specialization constant is called 'nothing'; declared are: 0 (factor), 2 (half_), 7 "
                "(local_size_x)"));
}

constexpr const char* plain = R"(#version 450
layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) buffer Y { uint y[]; };
void main() { y[gl_GlobalInvocationID.x] = x[gl_GlobalInvocationID.x] + 1u; }
)";

TEST_F(ExternalCallTest, BindingsAreNamedByMemberBlockOrNumber) {
  for (const auto& [x, y] : {std::pair("x", "y"), std::pair("X", "Y"), std::pair("0.0", "0.1")}) {
    const ExternalCall call{.places = {x, y}};
    const auto all = run(program_of(plain, call, {Resource::tensor(0), Resource::tensor(1)}));
    EXPECT_EQ(data_in(all)[95], 96U) << x;
  }
  EXPECT_THAT(
      refusal(plain, {.places = {"x", "z"}}),
      HasSubstr("nothing that can be bound is called 'z'; the kernel declares: 0.0 (X or x), 0.1 (Y or y)"));
  EXPECT_THAT(refusal(plain, {.places = {"x"}}, {Resource::tensor(0)}),
              HasSubstr("the kernel uses 0.1 (Y or y), and nothing is bound there"));
  EXPECT_THAT(refusal(plain, {.places = {"x", "X"}}), HasSubstr("0.0 is bound twice"));
  EXPECT_THAT(refusal(plain, {.places = {"x", "y"}, .push = {{"n", std::int64_t{1}}}}),
              HasSubstr("declares no push constants, and 'n' is given one"));
  EXPECT_THAT(refusal(plain, {.places = {"x", "y"}, .uniforms = {{"B.n", std::int64_t{1}}}}),
              HasSubstr("no uniform block has 'B.n'"));
}

TEST_F(ExternalCallTest, WritesPastTheEndReachTheTrailingGuardAlone) {
  const ExternalCall call{.places = {"x", "y"}};
  const auto all = run(program_of(plain, call, {Resource::tensor(0), Resource::tensor(1)}), count - 2);
  const std::vector<std::uint32_t> before(all.begin(), all.begin() + guard_words);
  EXPECT_THAT(before, Each(poison));
  EXPECT_EQ(all[guard_words + count - 2], count - 1)
      << "the trailing guard is part of the descriptor's range";
}

TEST_F(ExternalCallTest, WhoAsksForALengthSeesTheDataAlone) {
  constexpr const char* asking = R"(#version 450
layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) buffer Y { uint y[]; };
void main() { y[gl_GlobalInvocationID.x] = x.length() * 1000u + uint(y.length()); }
)";
  const auto all =
      run(program_of(asking, {.places = {"x", "y"}}, {Resource::tensor(0), Resource::tensor(1)}));
  EXPECT_THAT(data_in(all), Each(count * 1000 + count));
}

TEST_F(ExternalCallTest, ATextureIsReadThroughASamplerWhereTheKernelDeclaresOne) {
  constexpr const char* sampling = R"(#version 450
layout(local_size_x = 8) in;
layout(set = 1, binding = 2) uniform sampler3D picture;
layout(binding = 1) buffer Y { uint y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  y[i] = uint(texelFetch(picture, ivec3(int(i) / 4, 0, 0), 0)[i % 4u]);
}
)";
  Program program =
      program_of(sampling, {.places = {"picture", "y"}}, {Resource::tensor(0), Resource::tensor(1)});
  program.dispatches.front().workgroups = {1, 1, 1};
  const std::vector<Physical> tensors{{{Storage::Texture3D, Layout::WP}, DType::F32, {8}}, words(8)};
  Workspace memory = workspace(program, tensors);
  const std::vector<float> texels{0, 10, 20, 30, 40, 50, 60, 70};
  memory.write(Resource::tensor(0), std::as_bytes(std::span(texels)));
  built(program, tensors).run(memory, "k", timeout_s);
  EXPECT_THAT(data_in(words_of(memory.read(Resource::tensor(1)))),
              ElementsAre(0, 10, 20, 30, 40, 50, 60, 70));
}

TEST_F(ExternalCallTest, NoBufferHidesBehindAUniformBlock) {
  constexpr const char* hiding = R"(#version 450
layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) buffer Y { uint y[]; };
layout(binding = 2) uniform U { uint n; };
layout(binding = 2) buffer S { uint state[]; };
void main() { state[1]++; y[gl_GlobalInvocationID.x] = x[gl_GlobalInvocationID.x] + n; }
)";
  EXPECT_THAT(refusal(hiding, {.places = {"x", "y"}, .uniforms = {{"U.n", std::int64_t{1}}}}),
              HasSubstr("the kernel uses 0.2 (S or state), and nothing is bound there"));
  EXPECT_THAT(refusal(hiding, {.places = {"x", "y", "S"}, .uniforms = {{"U.n", std::int64_t{1}}}},
                      {Resource::tensor(0), Resource::tensor(1), Resource::tensor(1)}),
              HasSubstr("is declared as several uniform blocks, or bound, too"));
}

TEST_F(ExternalCallTest, LengthsInBlocksAreThoseOfTheCallsConstants) {
  constexpr const char* sized = R"(#version 450
layout(local_size_x = 32) in;
layout(constant_id = 3) const uint N = 2;
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) buffer Y { uint y[]; };
layout(binding = 2, std140) uniform U { uint a[N]; };
void main() { y[gl_GlobalInvocationID.x] = x[0] + a[gl_GlobalInvocationID.x % 8u]; }
)";
  const ExternalCall call{.places = {"x", "y"},
                          .constants = {{"N", std::int64_t{8}}},
                          .uniforms = {{"U.a[7]", std::int64_t{70}}, {"U.*", std::int64_t{5}}}};
  const auto y = data_in(run(program_of(sized, call, {Resource::tensor(0), Resource::tensor(1)})));
  EXPECT_EQ(y[7], 70U);
  EXPECT_EQ(y[6], 5U);
}

/// Only "BLOCK.*" was known, and the message about members without a value named "*".
TEST_F(ExternalCallTest, AllOtherMembersOfUniformBlocksMayHaveOneValue) {
  constexpr const char* blocks = R"(#version 450
layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) buffer Y { uint y[]; };
layout(binding = 2) uniform U { uint a, b; float c; };
layout(binding = 3) uniform V { uint d, e; };
void main() { y[gl_GlobalInvocationID.x] = x[0] + a + 10u * b + 100u * uint(c) + 1000u * d + 10000u * e; }
)";
  const auto value = [&](std::vector<NamedNumber> uniforms) {
    const ExternalCall call{.places = {"x", "y"}, .uniforms = std::move(uniforms)};
    return data_in(run(program_of(blocks, call, {Resource::tensor(0), Resource::tensor(1)}))).front();
  };
  EXPECT_EQ(value({{"U.a", std::int64_t{1}}, {"*", std::int64_t{7}}}), 77771U);
  EXPECT_EQ(value({{"V.*", std::int64_t{2}}, {"U.a", std::int64_t{1}}, {"*", std::int64_t{7}}}), 22771U);
  EXPECT_THAT(
      refusal(blocks, {.places = {"x", "y"}, .uniforms = {{"U.a", std::int64_t{1}}}}),
      HasSubstr("members of the uniform block 0.2 (U) get no value: b, c; '*' gives one to all others"));
  constexpr const char* without = R"(#version 450
layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) buffer Y { uint y[]; };
void main() { y[gl_GlobalInvocationID.x] = x[0]; }
)";
  for (const std::string name : {"*", "X.x"}) {
    EXPECT_THAT(refusal(without, {.places = {"x", "y"}, .uniforms = {{name, std::int64_t{1}}}}),
                HasSubstr("no uniform block has '" + name + "'"));
  }
}

TEST_F(ExternalCallTest, ALargeUniformBlockIsUnsupported) {
  constexpr const char* large = R"(#version 450
layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) buffer Y { uint y[]; };
layout(binding = 2, std140) uniform U { uint a[1025]; };
void main() { y[gl_GlobalInvocationID.x] = x[0] + a[3]; }
)";
  EXPECT_THAT(refusal(large, {.places = {"x", "y"}, .uniforms = {{"U.*", std::int64_t{5}}}}),
              HasSubstr("needs a uniform block of"));
}

TEST_F(ExternalCallTest, SeveralVariablesMayShareAPlaceAndATensorSeveralPlaces) {
  constexpr const char* views = R"(#version 450
layout(local_size_x = 32) in;
layout(set = 2, binding = 3) readonly buffer A { uint words[]; };
layout(set = 2, binding = 3) readonly buffer B { uvec4 quads[]; };
layout(set = 2, binding = 4) readonly buffer C { uint again[]; };
layout(set = 0, binding = 3) buffer Y { uint y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  y[i] = words[i] + 1000u * quads[i / 4u][i % 4u] + 1000000u * again[0 + i % 2u];
}
)";
  const auto all = run(program_of(views, {.places = {"words", "again", "y"}},
                                  {Resource::tensor(0), Resource::tensor(0), Resource::tensor(1)}));
  EXPECT_EQ(data_in(all)[7], 1007007U);
}

TEST_F(ExternalCallTest, ConstantsOfOneIdHaveOneValueAndAllOthersMayHaveOne) {
  constexpr const char* twice = R"(#version 450
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint BLOCK_SIZE = 16;
layout(push_constant) uniform P { uint a; uint b; float c; };
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) buffer Y { uint y[]; };
void main() { y[gl_GlobalInvocationID.x] = x[0] + BLOCK_SIZE + 1000u * a + 10000u * b + uint(c); }
)";
  const std::vector<Binding> bindings{Resource::tensor(0), Resource::tensor(1)};
  for (const char* name : {"BLOCK_SIZE", "local_size_x", "0"}) {
    const ExternalCall call{.places = {"x", "y"},
                            .constants = {{name, std::int64_t{32}}},
                            .push = {{"b", std::int64_t{2}}, {"*", std::int64_t{7}}}};
    EXPECT_THAT(data_in(run(program_of(twice, call, bindings))), Each(32U + 7000 + 20000 + 7)) << name;
  }
}

TEST_F(ExternalCallTest, ValuesMustFitTheirTypes) {
  constexpr const char* typed = R"(#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 32) in;
layout(constant_id = 1) const bool flag = false;
layout(push_constant) uniform P { int i; uint u; float f; int64_t l; };
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) buffer Y { uint y[]; };
void main() {
  y[gl_GlobalInvocationID.x] = x[0] + uint(i) + u + uint(f) + uint(l >> 32) + (flag ? 1000u : 0u);
}
)";
  const auto call = [](Number i, Number u, Number f, Number flag) {
    return ExternalCall{.places = {"x", "y"},
                        .constants = {{"flag", flag}},
                        .push = {{"i", i}, {"u", u}, {"f", f}, {"l", std::int64_t{7} << 32}}};
  };
  const std::int64_t one = 1;
  const std::vector<Binding> bindings{Resource::tensor(0), Resource::tensor(1)};
  EXPECT_THAT(data_in(run(program_of(typed, call(one, one, 2.5, one), bindings))), Each(1011U));
  EXPECT_THAT(refusal(typed, call(std::int64_t{1} << 31, one, one, one)),
              HasSubstr("'i' of the push constants is of type int and cannot be 2147483648"));
  EXPECT_THAT(refusal(typed, call(one, std::int64_t{-1}, one, one)), HasSubstr("'u'"));
  EXPECT_THAT(refusal(typed, call(0.5, one, one, one)),
              HasSubstr("'i' of the push constants is of type int"));
  EXPECT_THAT(refusal(typed, call(one, one, one, std::int64_t{2})),
              HasSubstr("is of type bool and cannot be 2"));
}

TEST_F(ExternalCallTest, ALargerWorkgroupThanTheDevicesIsUnsupported) {
  const Program program = program_of(foreign, good_call(), {Resource::tensor(0), Resource::tensor(1)});
  ShaderLibrary library({.directories = {}, .cache_directory = {}});
  DeviceInfo small = device().info();
  small.max_workgroup_invocations = 16;
  const Dispatch& dispatch = program.dispatches.front();
  EXPECT_THROW(resolved_call(dispatch, library.compile(dispatch), small), Unsupported);
  constexpr const char* half = R"(#version 450
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer X { float16_t x[]; };
layout(binding = 1) buffer Y { float y[]; };
void main() { y[gl_GlobalInvocationID.x] = float(x[gl_GlobalInvocationID.x]); }
)";
  const Program halves = program_of(half, {.places = {"x", "y"}}, {Resource::tensor(0), Resource::tensor(1)});
  ShaderLibrary again({.directories = {}, .cache_directory = {}});
  DeviceInfo poor = device().info();
  poor.features.clear();
  const auto why = error_of(
      [&] { resolved_call(halves.dispatches.front(), again.compile(halves.dispatches.front()), poor); });
  EXPECT_EQ(why, "dispatch 'k' needs storageBuffer16BitAccess, which is missing");
}

// A driver that gets such a workgroup may crash.
TEST_F(ExternalCallTest, AWorkgroupHasAtLeastOneInvocation) {
  ExternalCall call = good_call();
  call.constants.front().value = std::int64_t{0};
  EXPECT_THAT(refusal(foreign, call),
              AllOf(HasSubstr("calling the kernel k.comp in dispatch 'k'"),
                    HasSubstr("0 invocations in a workgroup along x, and must have at least 1")));
}

TEST_F(ExternalCallTest, AModuleWithoutNamesIsCalledByNumbers) {
  directory.write("k.comp", foreign);
  ShaderLibrary library({.directories = {directory.path()}, .cache_directory = {}});
  const std::vector<std::uint32_t> named = library.compile("k.comp", {}).words;
  std::vector<std::uint32_t> words(named.begin(), named.begin() + 5);
  for (std::size_t at = 5; at < named.size(); at += named[at] >> 16U) {
    const std::uint32_t opcode = named[at] & 0xFFFFU;
    const bool is_name = opcode == 5 || opcode == 6;  // OpName, OpMemberName
    if (!is_name) {
      words.insert(words.end(), named.begin() + static_cast<std::ptrdiff_t>(at),
                   named.begin() + static_cast<std::ptrdiff_t>(at + (named[at] >> 16U)));
    }
  }
  directory.write("m.spv", std::string(reinterpret_cast<const char*>(words.data()), words.size() * 4));
  Program program = program_of(plain,
                               {.places = {"3.9", "1.4"},
                                .constants = {{"7", std::int64_t{32}}, {"0", std::int64_t{3}}, {"2", 0.5}},
                                .push = {{"0", std::int64_t{count}},
                                         {"1[0].0", std::int64_t{1}},
                                         {"1[0].1[0]", std::int64_t{1}},
                                         {"1[0].1[1]", std::int64_t{1}},
                                         {"1[1].0", std::int64_t{1}},
                                         {"1[1].1[0]", std::int64_t{1}},
                                         {"1[1].1[1]", std::int64_t{1000}}},
                                .uniforms = {{"1.5.0", std::int64_t{20000}},
                                             {"1.5.1", 8.0},
                                             {"1.5.2[0]", std::int64_t{0}},
                                             {"1.5.2[1]", std::int64_t{0}},
                                             {"1.5.2[2]", std::int64_t{300000}}}},
                               {Resource::tensor(0), Resource::tensor(1)});
  program.dispatches.front().shader = "m.spv";
  EXPECT_EQ(data_in(run(program))[5], 15U + 1000 + 20000 + 300000 + 4);
}

TEST_F(ExternalCallTest, WhatIsNoModuleIsACompileError) {
  for (const std::string& text : {std::string(), std::string("abc"), std::string(64, '\x07')}) {
    directory.write("m.spv", text);
    Program program = program_of(plain, {.places = {"x", "y"}}, {Resource::tensor(0), Resource::tensor(1)});
    program.dispatches.front().shader = "m.spv";
    EXPECT_THAT(error_of([&] {
                  built(program, {words(count), words(count)});
                }),
                HasSubstr("it is no SPIR-V module"));
  }
}

TEST_F(ExternalCallTest, DataFlowRulesHoldForThemToo) {
  constexpr const char* reads_output = R"(#version 450
layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) buffer Y { uint y[]; };
void main() { y[gl_GlobalInvocationID.x] += x[gl_GlobalInvocationID.x]; }
)";
  const Program program =
      program_of(reads_output, {.places = {"x", "y"}}, {Resource::tensor(0), Resource::tensor(1)});
  ShaderLibrary library({.directories = {}, .cache_directory = {}});
  const std::vector<Physical> tensors{words(count), words(count)};
  const std::vector<TensorAccess> access{TensorAccess::Read, TensorAccess::Write};
  const auto told = [&](const std::vector<TensorAccess>& allowed) {
    return error_of([&] { Executable(device(), library, program, tensors, guard_bytes, allowed); });
  };
  EXPECT_THAT(told(access),
              AllOf(HasSubstr("reads set 0, binding 1 ('Y'), an output: what the program before"),
                    HasSubstr("A tensor that the op updates in place has `role: inout`"),
                    Not(HasSubstr("free_access_because"))));
  EXPECT_THAT(
      told({TensorAccess::Read, TensorAccess::Read}),
      AllOf(HasSubstr("writes set 0, binding 1 ('Y'), an input: what it leaves there the next program "
                      "finds. A tensor"),
            HasSubstr("`role: inout`")));
}

}  // namespace
}  // namespace assay::gpu
