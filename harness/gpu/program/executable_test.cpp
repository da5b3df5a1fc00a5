#include "harness/gpu/device/device.h"
#include "tests/support/gpu.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace assay::gpu {
namespace {

using namespace test;

using ::testing::Each;
using ::testing::ElementsAreArray;

constexpr std::uint32_t guard_words = guard_bytes / 4;

std::vector<std::uint32_t> counting(std::size_t count, std::uint32_t first = 1) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

/// The data of a guarded allocation.
std::vector<std::uint32_t> data_of(const std::vector<std::uint32_t>& words, std::size_t count) {
  return {words.begin() + guard_words, words.begin() + static_cast<std::ptrdiff_t>(guard_words + count)};
}

/// An allocation full of `poison`, with `data` between the guards.
std::vector<std::uint32_t> guarded(const std::vector<std::uint32_t>& data, std::uint32_t poison) {
  std::vector<std::uint32_t> words(data.size() + 2 * std::size_t{guard_words}, poison);
  std::copy(data.begin(), data.end(), words.begin() + guard_words);
  return words;
}

constexpr std::string_view guard_declaration = "layout(constant_id = 3) const uint guard_words = 0;\n";

class ExecutableTest : public GpuTest {
 protected:
  /// y = x, element by element, with the program's own guard.
  Program copy_program(std::uint32_t count) {
    directory.write("copy.comp", shader_text(std::string(guard_declaration) + buffers({"x", "y"}),
                                             "uint i = gl_GlobalInvocationID.x;"
                                             "y.data[guard_words + i] = x.data[guard_words + i];"));
    Program program;
    program.dispatches.push_back({.label = "copy",
                                  .shader = "copy.comp",
                                  .local_size = {32, 1, 1},
                                  .workgroups = {count / 32, 1, 1},
                                  .bindings = {Resource::tensor(0), Resource::tensor(1)}});
    return program;
  }

  Dispatch one_invocation(const std::string& label, const std::string& declarations, const std::string& body,
                          std::vector<Binding> bindings) {
    directory.write(label + ".comp", shader_text(declarations, body));
    return {
        .label = label, .shader = label + ".comp", .local_size = {1, 1, 1}, .bindings = std::move(bindings)};
  }
};

TEST_F(ExecutableTest, SubgroupsHaveTheSizeThatIsDemandedAndAreFull) {
  const DeviceInfo& info = device().info();
  if (!info.has(Feature::FullSubgroups)) GTEST_SKIP() << "the device cannot demand full subgroups";
  directory.write("sizes.comp",
                  shader_text("#extension GL_KHR_shader_subgroup_ballot : require\n" +
                                  std::string(guard_declaration) + buffers({"y"}),
                              "y.data[guard_words + gl_LocalInvocationID.x] = gl_SubgroupSize * 1000u + "
                              "subgroupBallotBitCount(subgroupBallot(true));"));
  for (std::uint32_t size = info.min_subgroup_size; size <= info.max_subgroup_size; size *= 2) {
    const std::uint32_t count = 2 * size;
    Program program;
    program.dispatches.push_back({.label = "sizes",
                                  .shader = "sizes.comp",
                                  .local_size = {count, 1, 1},
                                  .bindings = {Resource::tensor(0)},
                                  .subgroup_size = size});
    Workspace memory = workspace(program, {words(count)});
    executable(program).run(memory, "sizes", timeout_s);
    EXPECT_THAT(data_of(words_of(memory.read(Resource::tensor(0))), count), Each(size * 1001)) << size;
  }
}

TEST_F(ExecutableTest, CopiesAndLeavesGuardsAndInputAlone) {
  const Program program = copy_program(256);
  Workspace memory = workspace(program, {words(256), words(256)});
  const auto input = guarded(counting(256), 0x11111111);
  memory.write(Resource::tensor(0), bytes_of(input));
  memory.write(Resource::tensor(1), bytes_of(guarded(std::vector<std::uint32_t>(256, 7), 0x22222222)));

  executable(program).run(memory, "copy", timeout_s);

  EXPECT_EQ(words_of(memory.read(Resource::tensor(1))), guarded(counting(256), 0x22222222));
  EXPECT_EQ(words_of(memory.read(Resource::tensor(0))), input);
}

TEST_F(ExecutableTest, RunsWithoutGuardsToo) {
  const Program program = copy_program(64);
  Workspace memory = workspace(program, {words(64), words(64)}, 0);
  EXPECT_EQ(memory.size(Resource::tensor(0)), 256u);
  memory.write(Resource::tensor(0), bytes_of(counting(64)));
  executable(program, 0).run(memory, "copy", timeout_s);
  EXPECT_EQ(words_of(memory.read(Resource::tensor(1))), counting(64));
}

TEST_F(ExecutableTest, ShowsAStoreOnePastTheEndInTheGuard) {
  Program program;
  program.dispatches.push_back(one_invocation("past", std::string(guard_declaration) + buffers({"y"}),
                                              "y.data[guard_words + 64] = 5u; y.data[guard_words - 1] = 6u;",
                                              {Resource::tensor(0)}));
  Workspace memory = workspace(program, {words(64)});
  memory.write(Resource::tensor(0), bytes_of(guarded(std::vector<std::uint32_t>(64, 0), 9)));
  executable(program).run(memory, "past", timeout_s);
  const auto after = words_of(memory.read(Resource::tensor(0)));
  EXPECT_EQ(after[guard_words + 64], 5u);
  EXPECT_EQ(after[guard_words - 1], 6u);
  EXPECT_EQ(after[guard_words + 65], 9u);
  EXPECT_THAT(data_of(after, 64), Each(0u));
}

TEST_F(ExecutableTest, ASecondDispatchReadsWhatTheFirstWroteToScratch) {
  Program program;
  program.scratch.push_back({.name = "squares", .dtype = DType::I32, .shape = {1024}, .form = {}});
  directory.write("square.comp",
                  shader_text(buffers({"x", "s"}),
                              "uint i = gl_GlobalInvocationID.x; s.data[i] = x.data[i] * x.data[i];"));
  // Reads from the other end, so that it would see stale data if the first were still running.
  directory.write(
      "reverse.comp",
      shader_text(buffers({"s", "y"}), "uint i = gl_GlobalInvocationID.x; y.data[i] = s.data[1023 - i];"));
  program.dispatches = {{.label = "square",
                         .shader = "square.comp",
                         .workgroups = {16, 1, 1},
                         .bindings = {Resource::tensor(0), Resource::scratch(0)}},
                        {.label = "reverse",
                         .shader = "reverse.comp",
                         .workgroups = {16, 1, 1},
                         .bindings = {Resource::scratch(0), Resource::tensor(1)}}};
  Workspace memory = workspace(program, {words(1024), words(1024)}, 0);
  const auto input = counting(1024);
  memory.write(Resource::tensor(0), bytes_of(input));
  executable(program, 0).run(memory, "square and reverse", timeout_s);
  std::vector<std::uint32_t> expected;
  for (const std::uint32_t x : input) expected.push_back(x * x);
  std::ranges::reverse(expected);
  EXPECT_EQ(words_of(memory.read(Resource::tensor(1))), expected);
}

TEST_F(ExecutableTest, MemoryIsOverwrittenBetweenTwoDispatches) {
  Program program;
  program.scratch.push_back({.name = "carried", .dtype = DType::I32, .shape = {1}, .form = {}});
  program.dispatches = {one_invocation("store", buffers({"x", "s"}), "s.data[0] = x.data[0];",
                                       {Resource::tensor(0), Resource::scratch(0)}),
                        one_invocation("load", buffers({"s", "y"}), "y.data[0] = s.data[0];",
                                       {Resource::scratch(0), Resource::tensor(1)})};
  Workspace memory = workspace(program, {words(1), words(1)}, 0);
  memory.write(Resource::tensor(0), bytes_of(std::vector<std::uint32_t>{7}));
  Executable made = executable(program, 0);
  const auto run = [&](std::vector<Executable::Overwrite> overwrites) {
    made.run(memory, "store and load", timeout_s, overwrites);
    return std::pair(words_of(memory.read(Resource::tensor(1))).front(),
                     words_of(memory.read(Resource::scratch(0))).front());
  };
  EXPECT_EQ(run({{.before = 0, .resource = Resource::scratch(0), .word = 5}}), std::pair(7u, 7u));
  EXPECT_EQ(run({{.before = 1, .resource = Resource::scratch(0), .word = 5}}), std::pair(5u, 5u));
  EXPECT_EQ(run({{.before = 2, .resource = Resource::scratch(0), .word = 5}}), std::pair(7u, 5u));
  EXPECT_EQ(run({{.before = 1, .resource = Resource::scratch(0), .word = 5},
                 {.before = 1, .resource = Resource::scratch(0), .word = 6}}),
            std::pair(6u, 6u));
}

TEST_F(ExecutableTest, PassesPushAndSpecializationConstantsBitByBit) {
  const std::string declarations =
      "layout(constant_id = 16) const int a = 1;\n"
      "layout(constant_id = 17) const float b = 1.0;\n"
      "layout(constant_id = 18) const bool c = false;\n"
      "layout(push_constant) uniform P { int p; float q; uint r; };\n" +
      buffers({"y"});
  Program program;
  program.dispatches.push_back(
      one_invocation("constants", declarations,
                     "y.data[0] = uint(a); y.data[1] = floatBitsToUint(b); y.data[2] = c ? 1u : 0u;"
                     "y.data[3] = uint(p); y.data[4] = floatBitsToUint(q); y.data[5] = r;"
                     "y.data[6] = gl_WorkGroupSize.x * 100 + gl_WorkGroupSize.y * 10 + gl_WorkGroupSize.z;",
                     {Resource::tensor(0)}));
  Dispatch& dispatch = program.dispatches.front();
  dispatch.local_size = {4, 2, 3};
  dispatch.constants = {
      {"c", 1}, {"a", static_cast<std::uint32_t>(-5)}, {"b", std::bit_cast<std::uint32_t>(0.1F)}};
  dispatch.push.add(std::int64_t{-7}).add(2.5F).add(std::int64_t{0xFFFFFFFF});
  Workspace memory = workspace(program, {words(7)}, 0);
  executable(program, 0).run(memory, "constants", timeout_s);
  EXPECT_THAT(words_of(memory.read(Resource::tensor(0))),
              ElementsAreArray({static_cast<std::uint32_t>(-5), std::bit_cast<std::uint32_t>(0.1F), 1U,
                                static_cast<std::uint32_t>(-7), std::bit_cast<std::uint32_t>(2.5F),
                                0xFFFFFFFFU, 423U}));
}

TEST_F(ExecutableTest, RefusesConstantsThatTheShaderLacks) {
  Program program;
  program.dispatches.push_back(
      one_invocation("plain", buffers({"y"}), "y.data[0] = 3u;", {Resource::tensor(0)}));
  program.dispatches.front().constants = {{"tile_m", 1}};
  EXPECT_THROW(executable(program), Error);
}

TEST_F(ExecutableTest, RefusesAShaderThatUsesWhatTheProgramDoesNotBind) {
  Program program;
  program.dispatches.push_back(
      one_invocation("greedy", buffers({"x", "y"}), "y.data[0] = x.data[0];", {Resource::tensor(0)}));
  EXPECT_THAT([&] { executable(program); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr("uses set 0, binding 1 ('y')")));
}

TEST_F(ExecutableTest, SharedMemoryThatAConstantMakesTooLargeIsUnsupported) {
  Program program;
  program.dispatches.push_back(one_invocation(
      "large", "layout(constant_id = 16) const uint size = 1u;\nshared uint a[size];\n" + buffers({"y"}),
      "a[0] = 1u; y.data[0] = a[0];", {Resource::tensor(0)}));
  program.dispatches.front().constants = {{"size", 1U << 28}};
  EXPECT_THAT([&] { executable(program); },
              ::testing::ThrowsMessage<Unsupported>(::testing::HasSubstr(
                  "needs 1073741824 bytes of shared memory, maxComputeSharedMemorySize is")));
  program.dispatches.front().constants = {{"size", 8}};
  EXPECT_NO_THROW(executable(program));
}

TEST_F(ExecutableTest, AShaderThatUsesMoreThanTheDeviceHasIsUnsupported) {
  Program program;
  program.dispatches.push_back(one_invocation(
      "wide", "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n" + buffers({"y"}),
      "int64_t a = int64_t(y.data[0]); y.data[0] = uint(a * a);", {Resource::tensor(0)}));
  ShaderLibrary library({.directories = {directory.path()}, .cache_directory = {}});
  const std::vector<Physical> tensors{words(1)};
  Device poor(instance(), select_devices(instance().devices(), {}).front());
  std::erase(poor.state().trusted.features, Feature::Int64);
  EXPECT_THAT([&] { const Executable refused(poor, library, program, tensors, 0); },
              ::testing::ThrowsMessage<Unsupported>("dispatch 'wide' needs shaderInt64, which is missing"));
  EXPECT_THROW(prepare_executable(poor, library, program, tensors, 0, {}), Unsupported);
}

TEST_F(ExecutableTest, AShaderThatUsesAFeatureThatIsNeverEnabledIsUnsupported) {
  Program program;
  program.dispatches.push_back(one_invocation("doubles", buffers({"y"}),
                                              "double a = double(y.data[0]); y.data[0] = uint(a * a);",
                                              {Resource::tensor(0)}));
  EXPECT_THAT([&] { executable(program); },
              ::testing::ThrowsMessage<Unsupported>("dispatch 'doubles' needs the SPIR-V capability Float64, "
                                                    "whose feature assay does not enable"));
}

class RolesTest : public ExecutableTest {
 protected:
  /// A program that counts in tensor 0 how often setup, op and transition ran.
  Program counting_program() {
    Program program;
    const DispatchRole roles[] = {DispatchRole::Setup, DispatchRole::Op, DispatchRole::Transition};
    for (std::size_t i = 0; i < 3; ++i) {
      Dispatch dispatch = one_invocation("count" + std::to_string(i), buffers({"y"}),
                                         "y.data[" + std::to_string(i) + "] += 1u;", {Resource::tensor(0)});
      dispatch.role = roles[i];
      program.dispatches.push_back(std::move(dispatch));
    }
    return program;
  }

  Workspace zeroed(const Program& program) {
    Workspace memory = workspace(program, {words(3)}, 0);
    memory.write(Resource::tensor(0), bytes_of({0, 0, 0}));
    return memory;
  }

  std::vector<std::uint32_t> counts(const Workspace& memory) {
    return words_of(memory.read(Resource::tensor(0)));
  }
};

TEST_F(RolesTest, RunRunsEachDispatchOnce) {
  const Program program = counting_program();
  Workspace memory = zeroed(program);
  executable(program, 0).run(memory, "all", timeout_s);
  EXPECT_THAT(counts(memory), ElementsAreArray({1, 1, 1}));
}

TEST_F(RolesTest, SetupRunsSetupDispatchesOnly) {
  const Program program = counting_program();
  Workspace memory = zeroed(program);
  executable(program, 0).setup(memory, timeout_s);
  EXPECT_THAT(counts(memory), ElementsAreArray({1, 0, 0}));
}

TEST_F(RolesTest, TheTimeOfSetupIsThatOfOneRunOfIt) {
  Program program = counting_program();
  Workspace memory = zeroed(program);
  EXPECT_GT(executable(program, 0).setup_ns(memory, timeout_s), 0);
  EXPECT_THAT(counts(memory), ElementsAreArray({1, 0, 0}));
  program.dispatches.erase(program.dispatches.begin());
  EXPECT_EQ(executable(program, 0).setup_ns(memory, timeout_s), 0);
  EXPECT_THAT(counts(memory), ElementsAreArray({1, 0, 0})) << "there is none to run";
}

TEST_F(RolesTest, TimeRunsWarmAndBatchWithoutSetup) {
  const Program program = counting_program();
  Workspace memory = zeroed(program);
  executable(program, 0).time(memory, {.warm = 3, .batch = 5, .spacing = Spacing::Barrier}, timeout_s);
  EXPECT_THAT(counts(memory), ElementsAreArray({0, 8, 8}));
}

TEST_F(RolesTest, DispatchTimesAreThoseOfTimedDispatches) {
  const Program program = counting_program();
  Workspace memory = zeroed(program);
  const auto times = executable(program, 0).dispatch_ns(memory, timeout_s);
  if (device().info().timestamp_valid_bits > 0) {
    ASSERT_EQ(times.size(), 2u);
    EXPECT_THAT(times, Each(::testing::Gt(0)));
  } else {
    EXPECT_TRUE(times.empty());
  }
  EXPECT_EQ(counts(memory)[0], 0u);
}

TEST_F(RolesTest, DispatchTimesNeedNoOtherProgram) {
  if (device().info().timestamp_valid_bits == 0) GTEST_SKIP() << "the device has no timestamps";
  const Program program = counting_program();
  Workspace memory = zeroed(program);
  executable(program, 0).dispatch_ns(memory, timeout_s, /*warms_up=*/false);
  EXPECT_THAT(counts(memory), ElementsAreArray({0, 1, 1}));
}

TEST_F(ExecutableTest, ALongerLoopTakesLonger) {
  const std::string declarations = buffers({"y"}) + "layout(push_constant) uniform P { uint turns; };\n";
  // Fewer than 65535 iterations: after that many, lavapipe leaves the loops of an invocation.
  const auto fastest = [&](std::int64_t turns) {
    Program program;
    program.dispatches.push_back(
        one_invocation("loop", declarations,
                       "uint a = gl_GlobalInvocationID.x; for (uint i = 0u; i < turns; ++i)"
                       " a = a * 1664525u + y.data[i & 1u];"
                       " y.data[2 + gl_GlobalInvocationID.x] = a;",
                       {Resource::tensor(0)}));
    program.dispatches.front().local_size = {64, 1, 1};
    program.dispatches.front().push.add(turns);
    Workspace memory = workspace(program, {words(2 + 64)}, 0);
    Executable runnable = executable(program, 0);
    Timing best = runnable.time(memory, {.warm = 1, .batch = 4}, timeout_s);
    for (int i = 0; i < 4; ++i) {  // the machine may be busy: the fastest run is the most accurate
      const Timing timing = runnable.time(memory, {.warm = 1, .batch = 4}, timeout_s);
      EXPECT_LE(timing.gpu_ns.value_or(0), timing.wall_ns);
      best.wall_ns = std::min(best.wall_ns, timing.wall_ns);
      best.gpu_ns = std::min(best.gpu_ns, timing.gpu_ns);
    }
    return best;
  };
  const Timing brief = fastest(1);
  const Timing lasting = fastest(30'000);
  EXPECT_GT(lasting.wall_ns, brief.wall_ns) << "it has 30,000 times the work";
  if (device().info().timestamp_valid_bits > 0) {
    ASSERT_TRUE(brief.gpu_ns && lasting.gpu_ns);
    EXPECT_GT(*lasting.gpu_ns, *brief.gpu_ns);
  }
}

TEST_F(ExecutableTest, OverlappedProgramsAllRun) {
  Program program;
  program.dispatches.push_back(
      one_invocation("add", buffers({"y"}), "atomicAdd(y.data[0], 1u);", {Resource::tensor(0)}));
  Workspace memory = workspace(program, {words(1)}, 0);
  memory.write(Resource::tensor(0), bytes_of({0}));
  executable(program, 0).time(memory, {.warm = 0, .batch = 50, .spacing = Spacing::Overlapped}, timeout_s);
  EXPECT_EQ(words_of(memory.read(Resource::tensor(0)))[0], 50u);
}

TEST_F(ExecutableTest, OneExecutableServesManyWorkspaces) {
  const Program program = copy_program(32);
  Executable runnable = executable(program);
  for (std::uint32_t i = 0; i < 150; ++i) {  // more than the number of bindings that are kept
    Workspace memory = workspace(program, {words(32), words(32)});
    memory.write(Resource::tensor(0), bytes_of(guarded(counting(32, i), 0)));
    runnable.run(memory, "copy", timeout_s);
    ASSERT_EQ(data_of(words_of(memory.read(Resource::tensor(1))), 32), counting(32, i));
  }
}

TEST_F(ExecutableTest, TwoWorkspacesDoNotShareMemory) {
  const Program program = copy_program(32);
  Executable runnable = executable(program);
  Workspace a = workspace(program, {words(32), words(32)});
  Workspace b = workspace(program, {words(32), words(32)});
  a.write(Resource::tensor(0), bytes_of(guarded(counting(32, 100), 0)));
  b.write(Resource::tensor(0), bytes_of(guarded(counting(32, 200), 0)));
  runnable.run(a, "a", timeout_s);
  runnable.run(b, "b", timeout_s);
  EXPECT_EQ(data_of(words_of(a.read(Resource::tensor(1))), 32), counting(32, 100));
  EXPECT_EQ(data_of(words_of(b.read(Resource::tensor(1))), 32), counting(32, 200));
}

TEST_F(ExecutableTest, AWorkspaceOfOtherGuardsIsRefused) {
  const Program program = copy_program(32);
  Workspace memory = workspace(program, {words(32), words(32)}, 0);
  EXPECT_THROW(executable(program).run(memory, "copy", timeout_s), std::logic_error);
}

TEST_F(ExecutableTest, HashesOfSpirvFollowTheShaders) {
  const Program program = copy_program(32);
  Program other = program;
  other.dispatches.front().defines = {{"UNUSED", "1"}};
  Program longer = program;
  longer.dispatches.push_back(program.dispatches.front());
  EXPECT_EQ(executable(program).spirv_hash(), executable(other).spirv_hash());
  EXPECT_NE(executable(program).spirv_hash(), executable(longer).spirv_hash());
}

TEST_F(ExecutableTest, WhatTheDeviceCannotRunIsRefusedBeforeItIsCompiled) {
  Program program = copy_program(32);
  program.dispatches.front().local_size = {1u << 20, 1, 1};
  program.dispatches.front().shader = "there is none.comp";
  try {
    executable(program);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("maxComputeWorkGroupSize[0]"));
  }
}

}  // namespace
}  // namespace assay::gpu
