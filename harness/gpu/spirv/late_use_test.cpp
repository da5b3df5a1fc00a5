#include "harness/gpu/spirv/late_use.h"

#include "harness/gpu/spirv/spirv_flow.h"
#include "tests/support/gpu.h"

namespace assay::gpu {
namespace {

using namespace test;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LateUseTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { static const GlslangProcess shared; }  // saves time: see GpuTest

  std::vector<std::uint32_t> compile(const std::string& declarations, const std::string& body) {
    sources.write(
        "s.comp",
        "#version 450\n"
        "#extension GL_KHR_shader_subgroup_arithmetic : enable\n"
        "#extension GL_KHR_memory_scope_semantics : enable\n"
        "#define MEET controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | "
        "gl_StorageSemanticsShared, gl_SemanticsAcquireRelease)\n"
        "layout(local_size_x = 32) in;\n"
        "layout(set = 0, binding = 0) readonly buffer X { float x[]; };\n"
        "layout(set = 0, binding = 1) writeonly buffer Y { float y[]; };\n"
        "layout(set = 0, binding = 2) coherent buffer Parts { float parts[]; };\n"
        "layout(set = 0, binding = 3) coherent buffer Arrived { uint arrived[]; };\n"
        "layout(push_constant) uniform Push { uint count; } push;\n"
        "shared bool is_last;\n"
        "shared float sums[32];\n" +
            declarations + "void main() {\n" + body + "}\n");
    return ShaderLibrary({.directories = {sources.path()}, .cache_directory = {}})
        .compile("s.comp", {})
        .words;
  }

  /// The late use of a kernel that keeps `parts` and `arrived`, "" if there is none, with ": BINDING" of the
  /// input that it reads.
  std::string use(const std::string& body, const std::string& declarations = "") {
    const std::optional<LateUse> found =
        late_use_of_inputs(compile(declarations, body), {.all = {2, 3}, .counters = {3}});
    if (!found) return "";
    return found->what + (found->binding ? ": " + std::to_string(*found->binding) : "");
  }

  TemporaryFolder sources;
};

const std::string store =
    "float sum = 0.0;\n"
    "for (uint i = gl_LocalInvocationID.x; i < push.count; i += 32u) sum += x[gl_WorkGroupID.x * push.count "
    "+ i];\n"
    "sums[gl_LocalInvocationID.x] = sum;\n"
    "barrier();\n"
    "parts[gl_WorkGroupID.x] = sums[0] + sums[1];\n";
const std::string arrive =
    "MEET;\n"
    "if (gl_LocalInvocationID.x == 0u) is_last = atomicAdd(arrived[0], 1u) == gl_NumWorkGroups.x - 1u;\n"
    "barrier();\n"
    "if (!is_last) return;\n";
const std::string join =
    "float all = 0.0;\n"
    "for (uint i = 0u; i < gl_NumWorkGroups.x; ++i) all += parts[i];\n"
    "if (gl_LocalInvocationID.x == 0u) { y[0] = all; arrived[0] = 0u; }\n";

TEST_F(LateUseTest, TheLastWorkgroupMayJoinWhatAllHaveStored) {
  EXPECT_EQ(use(store + arrive + join), "");
}

TEST_F(LateUseTest, FunctionsMayBeUsedBeforeAndAfter) {
  EXPECT_EQ(
      use("parts[gl_WorkGroupID.x] = twice(x[gl_WorkGroupID.x]);\n" + arrive + "y[0] = twice(parts[0]);\n",
          "float twice(float one) { if (one == 0.0) return 1.0; return one + one; }\n"),
      "")
      << "they are other values in each call";
}

const std::string no_barrier = "has no barrier of the whole workgroup before it";

TEST_F(LateUseTest, InputsAreNotReadAfterwards) {
  EXPECT_EQ(use(arrive + store + join), "reads it: 0");
  EXPECT_EQ(use(store + arrive + join + "y[1] = x[0];\n"), "reads it: 0");
  EXPECT_EQ(
      use(store + arrive + join + "y[1] = value_of(0u);\n", "float value_of(uint i) { return x[i]; }\n"),
      "reads it: 0");
}

TEST_F(LateUseTest, WhatIsKeptIsNotReadBefore) {
  EXPECT_THAT(use("if (parts[7] == 1.0) return;\n" + store + arrive + join), HasSubstr(no_barrier))
      << "a mark";
  EXPECT_THAT(use("if (arrived[7] == 1u) return;\n" + store + arrive + join), HasSubstr(no_barrier));
  EXPECT_THAT(
      use("if (known()) return;\n" + store + arrive + join, "bool known() { return parts[7] == 1.0; }\n"),
      HasSubstr(no_barrier));
  EXPECT_THAT(use("atomicAdd(arrived[7], 1u);\n" + store + arrive + join), HasSubstr(no_barrier));
  EXPECT_EQ(use("for (uint n = 0u; n < 2u; ++n) {\n" + store + arrive + join + "}\n"), "reads it: 0");
}

TEST_F(LateUseTest, ABarrierOfTheWorkgroupThatOrdersBuffersComesBetween) {
  const std::string count =
      "is_last = atomicAdd(arrived[0], 1u) == gl_NumWorkGroups.x - 1u;\nif (!is_last) return;\n";
  EXPECT_EQ(use(store + "MEET;\n" + count + join), "");
  EXPECT_THAT(use(store + count + join), HasSubstr(no_barrier));
  EXPECT_THAT(use(store + "barrier();\n" + count + join), HasSubstr(no_barrier))
      << "it orders shared memory alone";
  EXPECT_THAT(use(store +
                  "controlBarrier(gl_ScopeWorkgroup, gl_ScopeSubgroup, gl_StorageSemanticsBuffer, "
                  "gl_SemanticsAcquireRelease);\n" +
                  count + join),
              HasSubstr(no_barrier));
  EXPECT_THAT(use(store + "memoryBarrierBuffer();\n" + count + join), HasSubstr(no_barrier));
  EXPECT_THAT(use(store +
                  "controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsBuffer, "
                  "gl_SemanticsAcquireRelease);\n" +
                  count + join),
              HasSubstr(no_barrier));
}

/// Else some could be beyond it, and tell others by shared memory, while these are still before it.
TEST_F(LateUseTest, AllInvocationsReachTheSameBarriers) {
  const std::string not_all = "waits at a barrier before it that not all invocations may reach";
  EXPECT_EQ(use("if (gl_LocalInvocationID.x < 16u) {\n" + arrive + "}\nelse barrier();\n" + "y[0] = 1.0;\n"),
            not_all);
  EXPECT_EQ(use("if (gl_LocalInvocationID.x < 16u) barrier();\n" + store + arrive + join), not_all);
  EXPECT_EQ(use("if (gl_LocalInvocationID.x < 16u) return;\n" + store + arrive + join), not_all);
  EXPECT_EQ(use("if (x[0] > 1.0) barrier();\n" + store + arrive + join), not_all);
  EXPECT_EQ(use("sums[1] = 1.0;\nbarrier();\nif (sums[0] > 1.0) barrier();\n" + store + arrive + join),
            not_all);
  EXPECT_EQ(use("uint never;\nif (never == 7u) barrier();\n" + store + arrive + join), not_all);
  EXPECT_EQ(use("uint a[3] = {0u, 1u, 2u};\nif (a[push.count] == 7u) barrier();\n" + store + arrive + join),
            not_all)
      << "it may lie past the end";
  EXPECT_EQ(use("uint a[3] = {0u, 1u, 2u};\nif (a[1] == push.count) barrier();\n" + store + arrive + join),
            "");
  EXPECT_EQ(use("if (subgroupElect()) barrier();\n" + store + arrive + join), not_all);
  EXPECT_EQ(use("for (uint i = 0u; i < gl_LocalInvocationID.x; ++i) barrier();\n" + store + arrive + join),
            not_all);
  EXPECT_EQ(use("uint n = 0u;\nif (gl_LocalInvocationID.x < 3u) n = 1u;\nif (n == 0u) barrier();\n" + store +
                arrive + join),
            not_all);
  EXPECT_EQ(
      use("if (gl_WorkGroupID.x >= push.count) return;\nfor (uint i = 0u; i < push.count; ++i) barrier();\n" +
          store + arrive + join),
      "");
  EXPECT_EQ(use(store + arrive + "for (uint i = 0u; i < arrived[0]; ++i) barrier();\n" + join), "")
      << "later ones may";
}

const std::string of_inputs = "uses a value that it has computed from its inputs";

TEST_F(LateUseTest, WhatWasReadBeforeIsNotUsedAfterwards) {
  EXPECT_EQ(use("const float one = x[0];\n" + arrive + "y[0] = one * parts[0];\n"), of_inputs);
  EXPECT_EQ(use("const float one = x[0];\nsums[0] = one;\n" + arrive + "y[0] = sums[0];\n"), of_inputs);
  EXPECT_EQ(use("kept = x[0];\n" + arrive + "y[0] = kept;\n", "float kept;\n"), of_inputs);
  EXPECT_EQ(use("const uint at = uint(x[0]);\n" + arrive + "y[at] = 1.0;\n"), of_inputs);
  EXPECT_EQ(use("const float most = subgroupMax(x[gl_LocalInvocationID.x]);\n" + arrive + "y[0] = most;\n"),
            of_inputs);
  EXPECT_EQ(use("const float one = x[0];\n" + arrive + "if (one > 1.0) y[0] = 2.0;\n"), of_inputs);
  EXPECT_EQ(use("const float one = x[0];\n" + arrive + "y[0] = f(one);\n",
                "float f(float a) { return a + 1.0; }\n"),
            of_inputs);
}

TEST_F(LateUseTest, NorWhatDependsOnIt) {
  const std::string not_all_go = "waits at a barrier before it that not all invocations may reach";
  EXPECT_EQ(use("float one = 0.0;\nif (x[0] > 1.0) one = 1.0;\n" + arrive + "y[0] = one;\n"), of_inputs);
  EXPECT_EQ(use("const float one = sign_of(x[0]);\n" + arrive + "y[0] = one;\n",
                "float sign_of(float a) { if (a > 0.0) return 1.0; return -1.0; }\n"),
            of_inputs);
  EXPECT_EQ(use("const bool both = push.count > 1u && x[0] > 1.0;\n" + arrive + "if (both) y[0] = 1.0;\n"),
            of_inputs);
  EXPECT_EQ(use("uint n = 0u;\nwhile (x[n] > 0.0) ++n;\n" + arrive + "y[n] = 1.0;\n"), of_inputs);
  EXPECT_EQ(use("if (x[0] > 1.0) return;\n" + arrive + "y[0] = 1.0;\n"), not_all_go);
}

TEST_F(LateUseTest, OutputsAreInputsWhenTheyAreRead) {
  EXPECT_EQ(use(store + arrive + "y[0] = old[0];\n",
                "layout(set = 0, binding = 4) readonly buffer Old { float old[]; };\n"),
            "reads it: 4");
}

TEST_F(LateUseTest, OnlyConstantsInCountersAreKeptForTheNextRun) {
  EXPECT_EQ(use(store + arrive + join + "arrived[1] = 7u;\n"), "");
  const std::string in_parts = "stores in what is not set to zero for the next run";
  EXPECT_EQ(use(store + arrive + join + "parts[9] = all;\n"), in_parts);
  EXPECT_EQ(use(store + arrive + join + "parts[9] = 7.0;\n"), in_parts)
      << "bit by bit, or where it stands, it is a value";
  EXPECT_EQ(use(store + arrive + join + "atomicAdd(arrived[1], gl_LocalInvocationID.x);\n"),
            "stores there what is no constant");
}

TEST_F(LateUseTest, ModulesWithoutMainAreErrors) {
  EXPECT_THROW(late_use_of_inputs({}, {}), Error);
}

std::vector<FlowBlock> graph(const std::vector<std::vector<std::size_t>>& next) {
  std::vector<FlowBlock> blocks;
  for (const std::vector<std::size_t>& one : next) blocks.push_back({.instructions = {}, .next = one});
  return blocks;
}

TEST(PostdominatorsTest, AreWhereWaysMeetAgain) {
  EXPECT_THAT(immediate_postdominators(graph({})), IsEmpty());
  EXPECT_THAT(immediate_postdominators(graph({{1, 2}, {3}, {3}, {}})), ElementsAre(3, 3, 3, 4));
  EXPECT_THAT(immediate_postdominators(graph({{1, 2}, {}, {3}, {}})), ElementsAre(4, 4, 3, 4)) << "two ends";
  EXPECT_THAT(immediate_postdominators(graph({{1}, {2, 3}, {1}, {}})), ElementsAre(1, 3, 1, 4)) << "a loop";
  EXPECT_THAT(immediate_postdominators(graph({{1, 2}, {1}, {}})), ElementsAre(2, 3, 3))
      << "one without an end";
}

TEST_F(LateUseTest, CallsAreReplacedByWhatTheyCall) {
  const SpirvFlow flow = flow_of(compile("float f(float a) { return a + 1.0; }\n", "y[0] = f(f(2.0));\n"));
  std::size_t sums = 0, calls = 0;
  for (const FlowBlock& block : flow.blocks) {
    for (const FlowInstruction& one : block.instructions) {
      sums += one.opcode == spv::OpFAdd ? 1 : 0;
      calls += one.opcode == spv::OpFunctionCall ? 1 : 0;
      EXPECT_LT(one.result, flow.first_free_id);
    }
  }
  EXPECT_EQ(sums, 2U);
  EXPECT_EQ(calls, 0U);
}

}  // namespace
}  // namespace assay::gpu
