#include "harness/gpu/program/interface_check.h"

#include "tests/support/gpu.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

namespace assay::gpu {
namespace {

using namespace test;

using ::testing::AllOf;
using ::testing::HasSubstr;
using Kind = ShaderBinding::Kind;

const Form buffer{}, checked_texture2d{Storage::Texture2D, Layout::WP},
    checked_texture3d{Storage::Texture3D, Layout::WP};

/// A program of one dispatch and its shader's interface. They agree until a test changes one of them.
struct Parts {
  Program program{.scratch = {{.name = "sums", .dtype = DType::I32, .shape = {4}, .form = {}}},
                  .dispatches = {{.label = "quantize",
                                  .shader = "quantize.comp",
                                  .defines = {{"WIDE", "1"}},
                                  .local_size = {32, 2, 1},
                                  .push = PushConstants().add(std::int64_t{1}).add(1.0F),
                                  .bindings = {Resource::tensor(0), Resource::tensor(1),
                                               sampled(Resource::tensor(2)), Resource::scratch(0)}}}};
  std::vector<Physical> tensors{
      {buffer, DType::F32, {4}}, {checked_texture3d, DType::I8, {4}}, {checked_texture2d, DType::U8, {4}}};
  std::vector<ShaderInterface> shaders{
      {.bindings = {{.binding = 0, .kind = Kind::StorageBuffer, .name = "x", .readonly = true},
                    {.binding = 1,
                     .kind = Kind::StorageImage,
                     .name = "y",
                     .dimensions = 3,
                     .format = "rgba8i",
                     .texel = 'i'},
                    {.binding = 2,
                     .kind = Kind::SampledImage,
                     .name = "t",
                     .readonly = true,
                     .dimensions = 2,
                     .texel = 'u'},
                    {.binding = 3, .kind = Kind::StorageBuffer, .name = "s"}},
       .push_bytes = 8,
       .uses_push = true,
       .shared_bytes = 1024,
       .local_size = {32, 2, 1}}};
  DeviceInfo device;

  ShaderBinding& binding(std::size_t i) { return shaders.front().bindings[i]; }
  Dispatch& dispatch() { return program.dispatches.front(); }
};

/// The error message for the parts after `change`; empty: none.
std::string complaint(const std::function<void(Parts&)>& change) {
  Parts parts;
  change(parts);
  try {
    check_interfaces(parts.program, parts.tensors, parts.shaders, parts.device);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(InterfaceCheck, HasNothingAgainstAShaderAndAProgramThatAgree) {
  EXPECT_EQ(complaint([](Parts&) {}), "");
}

TEST(InterfaceCheck, NamesShaderVariantAndDispatch) {
  EXPECT_THAT(
      complaint([](Parts& p) { p.binding(0).set = 7; }),
      HasSubstr("checking the shader quantize.comp with WIDE 1 against dispatch 'quantize': the shader "
                "uses set 7, binding 0 ('x'), and programs bind set 0 alone"));
}

TEST(InterfaceCheck, RefusesABindingThatNobodyBinds) {
  EXPECT_THAT(complaint([](Parts& p) { p.binding(3).binding = 9; }),
              HasSubstr("the shader uses set 0, binding 9 ('s'), and the dispatch binds 4 resources"));
}

TEST(InterfaceCheck, ABindingThatTheShaderDoesNotUseIsHarmless) {
  EXPECT_EQ(complaint([](Parts& p) { p.shaders.front().bindings.pop_back(); }), "");
}

TEST(InterfaceCheck, RefusesAnotherKindThanTheForms) {
  EXPECT_THAT(complaint([](Parts& p) {
                p.tensors[0] = {checked_texture3d, DType::F32, {4}};
              }),
              AllOf(HasSubstr("declares set 0, binding 0 ('x') as a storage buffer"),
                    HasSubstr("binds tensor 0 (texture3d/WP) there as a storage image")));
  EXPECT_THAT(complaint([](Parts& p) { p.binding(1).kind = Kind::StorageBuffer; }),
              HasSubstr("binds tensor 1 (texture3d/WP) there as a storage image"));
  EXPECT_THAT(complaint([](Parts& p) { p.dispatch().bindings[1] = sampled(Resource::tensor(1)); }),
              AllOf(HasSubstr("as a storage image, and"), HasSubstr("there as a texture with its sampler")));
  EXPECT_THAT(complaint([](Parts& p) { p.dispatch().bindings[2] = Resource::tensor(2); }),
              HasSubstr("there as a storage image"));
  EXPECT_THAT(complaint([](Parts& p) { p.binding(3).kind = Kind::Other; }),
              HasSubstr("as neither a storage buffer nor an image"));
}

TEST(InterfaceCheck, RefusesOtherDimensionsAndOtherTexels) {
  EXPECT_THAT(
      complaint([](Parts& p) { p.binding(1).dimensions = 2; }),
      HasSubstr("as an image of 2 dimensions, and the dispatch binds tensor 1 there, a texture of 3"));
  EXPECT_THAT(complaint([](Parts& p) { p.binding(2).dimensions = 0; }), HasSubstr("no plain image"));
  EXPECT_THAT(
      complaint([](Parts& p) { p.binding(1).format = "rgba16i"; }),
      HasSubstr("with texels of rgba16i, and the dispatch binds tensor 1 there, whose texels are rgba8i"));
  EXPECT_THAT(complaint([](Parts& p) { p.binding(2).texel = 'i'; }), HasSubstr("whose texels are rgba8ui"));
  EXPECT_EQ(complaint([](Parts& p) { p.binding(1).format = ""; }), "") << "it states none";
}

TEST(InterfaceCheck, RefusesPushConstantsThatNobodyPushesAndSuchThatNobodyReads) {
  EXPECT_THAT(complaint([](Parts& p) { p.dispatch().push = {}; }),
              HasSubstr("the shader declares 8 bytes of push constants, and the dispatch pushes 0"));
  EXPECT_THAT(complaint([](Parts& p) { p.dispatch().push.add(std::int64_t{0}); }),
              HasSubstr("declares 8 bytes of push constants, and the dispatch pushes 12"));
  EXPECT_THAT(complaint([](Parts& p) { p.shaders.front().push_bytes = 0; }), HasSubstr("declares 0 bytes"));
  EXPECT_EQ(complaint([](Parts& p) {
              p.dispatch().push = {};
              p.shaders.front().uses_push = false;
            }),
            "")
      << "declared alone is harmless";
}

TEST(InterfaceCheck, RefusesAnotherWorkgroup) {
  EXPECT_THAT(complaint([](Parts& p) {
                p.shaders.front().local_size = {64, 1, 1};
              }),
              HasSubstr("workgroups are of 64 x 1 x 1 invocations, and the dispatch says 32 x 2 x 1"));
}

TEST(InterfaceCheck, RefusesAWorkgroupWithoutInvocations) {
  EXPECT_EQ(complaint([](Parts& p) {
              p.dispatch().local_size = p.shaders.front().local_size = {32, 0, 1};
            }),
            "dispatch 'quantize' has 0 invocations in a workgroup along y, and must have at least 1");
}

TEST(InterfaceCheck, RefusesADispatchThatOwnsUpToLessSharedMemory) {
  EXPECT_THAT(complaint([](Parts& p) { p.dispatch().shared_bytes = 1020; }),
              HasSubstr("the shader has 1024 bytes of shared memory, and the dispatch says 1020"));
  EXPECT_EQ(complaint([](Parts& p) { p.dispatch().shared_bytes = 2048; }), "");
}

TEST(InterfaceCheck, MoreSharedMemoryThanTheDeviceHasIsUnsupportedWithBothNumbers) {
  Parts parts;
  parts.shaders.front().shared_bytes = std::uint64_t{1} << 30;
  EXPECT_THAT(
      [&] { check_interfaces(parts.program, parts.tensors, parts.shaders, parts.device); },
      ::testing::ThrowsMessage<Unsupported>("dispatch 'quantize' needs 1073741824 bytes of shared memory, "
                                            "maxComputeSharedMemorySize is 16384"));
}

TEST(InterfaceCheck, RefusesAClock) {
  EXPECT_THAT(complaint([](Parts& p) {
                p.shaders.front().capabilities = {1, 5055};
              }),
              AllOf(HasSubstr("against dispatch 'quantize'"),
                    HasSubstr("uses the SPIR-V capability ShaderClockKHR")));
}

TEST(UnmetNeed, EveryCapabilityOfSubgroupsUniformBlocksAndTheMemoryModelHasAFeature) {
  constexpr std::array<std::uint32_t, 5> header{0x07230203, 0x00010300};
  const std::pair<std::uint32_t, std::string> needs[] = {{62, "subgroupVote"},
                                                         {63, "subgroupArithmetic"},
                                                         {64, "subgroupBallot"},
                                                         {65, "subgroupShuffle"},
                                                         {66, "subgroupShuffleRelative"},
                                                         {67, "subgroupClustered"},
                                                         {68, "subgroupQuad"},
                                                         {4434, "uniformAndStorageBuffer16BitAccess"},
                                                         {4449, "uniformAndStorageBuffer8BitAccess"},
                                                         {5345, "vulkanMemoryModel"},
                                                         {5346, "vulkanMemoryModelDeviceScope"}};
  DeviceInfo rich;
  for (int i = 0; i <= static_cast<int>(Feature::CooperativeMatrixNv); ++i)
    rich.features.push_back(static_cast<Feature>(i));
  for (const auto& [capability, name] : needs) {
    ShaderInterface shader{.local_size = {1, 1, 1}};
    shader.capabilities = {1, capability};
    EXPECT_EQ(unmet_need(header, shader, DeviceInfo{}), name + ", which is missing") << capability;
    EXPECT_EQ(unmet_need(header, shader, rich), std::nullopt) << capability;
  }
}

TEST(UnmetNeed, EveryExecutionModeThatAKernelMayHaveHasAFeature) {
  constexpr std::uint32_t execution_mode = 16, execution_mode_id = 331, entry = 1;
  const auto module_with = [](std::vector<std::uint32_t> instruction) {
    std::vector<std::uint32_t> words{0x07230203, 0x00010300, 0, 9, 0};
    instruction[0] |= static_cast<std::uint32_t>(instruction.size()) << 16;
    words.insert(words.end(), instruction.begin(), instruction.end());
    return words;
  };
  const std::pair<std::vector<std::uint32_t>, std::string> needs[] = {
      {{execution_mode, entry, 4459, 16}, "shaderDenormPreserveFloat16"},
      {{execution_mode, entry, 4459, 32}, "shaderDenormPreserveFloat32"},
      {{execution_mode, entry, 4460, 16}, "shaderDenormFlushToZeroFloat16"},
      {{execution_mode, entry, 4460, 32}, "shaderDenormFlushToZeroFloat32"},
      {{execution_mode, entry, 4461, 16}, "shaderSignedZeroInfNanPreserveFloat16"},
      {{execution_mode, entry, 4461, 32}, "shaderSignedZeroInfNanPreserveFloat32"},
      {{execution_mode, entry, 4462, 16}, "shaderRoundingModeRTEFloat16"},
      {{execution_mode, entry, 4462, 32}, "shaderRoundingModeRTEFloat32"},
      {{execution_mode, entry, 4463, 16}, "shaderRoundingModeRTZFloat16"},
      {{execution_mode, entry, 4463, 32}, "shaderRoundingModeRTZFloat32"},
      {{execution_mode_id, entry, 38, 2, 3, 4}, "maintenance4"}};
  DeviceInfo rich;
  for (int i = 0; i <= static_cast<int>(Feature::CooperativeMatrixNv); ++i)
    rich.features.push_back(static_cast<Feature>(i));
  const ShaderInterface shader{.local_size = {1, 1, 1}};
  for (const auto& [instruction, name] : needs) {
    EXPECT_EQ(unmet_need(module_with(instruction), shader, DeviceInfo{}), name + ", which is missing");
    EXPECT_EQ(unmet_need(module_with(instruction), shader, rich), std::nullopt) << name;
  }
  EXPECT_EQ(unmet_need(module_with({execution_mode, entry, 4462, 64}), shader, rich),
            "a mode of 64-bit floats, a feature that assay does not enable");
  EXPECT_EQ(unmet_need(module_with({execution_mode, entry, 17, 1, 1, 1}), shader, DeviceInfo{}),
            std::nullopt);
}

/// The error message when the program may only read tensor 0 and only write tensor 1.
std::string access_complaint(const std::function<void(Parts&)>& change) {
  Parts parts;
  change(parts);
  const std::array access{TensorAccess::Read, TensorAccess::Write};
  try {
    check_interfaces(parts.program, parts.tensors, parts.shaders, parts.device, access);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(InterfaceCheck, OutputsAreNotRead) {
  EXPECT_EQ(access_complaint([](Parts&) {}), "");
  const auto readable = [](Parts& parts) { parts.binding(1).is_read = true; };
  EXPECT_THAT(access_complaint(readable),
              HasSubstr("reads set 0, binding 1 ('y'), where tensor 1 is bound, an "
                        "output"));
  EXPECT_EQ(access_complaint([&](Parts& parts) {
              readable(parts);
              parts.program.unchecked_because = "a test";
            }),
            "");
  EXPECT_EQ(complaint(readable), "") << "where nobody says what tensors are";
}

TEST(InterfaceCheck, NorByASecondVariableAtTheirBinding) {
  EXPECT_THAT(access_complaint([](Parts& parts) {
                ShaderBinding alias = parts.binding(1);
                alias.name = "old";
                alias.is_read = true;
                parts.shaders.front().bindings.push_back(alias);
              }),
              HasSubstr("reads set 0, binding 1 ('old'), where tensor 1 is bound, an output"));
}

TEST(InterfaceCheck, InputsAreNotWritten) {
  EXPECT_THAT(access_complaint([](Parts& parts) { parts.binding(0).is_written = true; }),
              HasSubstr("writes set 0, binding 0 ('x'), where tensor 0 is bound, an input"));
}

/// The error message for a program of two dispatches that both bind an input and an output, in which the
/// second may read what the first wrote.
std::string freed_complaint(const ShaderBinding& input, const ShaderBinding& first,
                            const ShaderBinding& second) {
  Program program{.free_access_because = "it reads its own scales"};
  std::vector<ShaderInterface> shaders;
  for (ShaderBinding output : {first, second}) {
    program.dispatches.push_back({.bindings = {Resource::tensor(0), Resource::tensor(1)}});
    output.binding = 1;
    output.kind = Kind::StorageBuffer;
    ShaderBinding in = input;
    in.kind = Kind::StorageBuffer;
    shaders.push_back({.bindings = {in, output}, .local_size = {64, 1, 1}});
  }
  const std::vector tensors(2, Physical({Storage::Buffer, Layout::WP}, DType::I32, {4}));
  try {
    check_interfaces(program, tensors, shaders, {}, std::array{TensorAccess::Read, TensorAccess::Write});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(InterfaceCheck, AnExcuseFreesOnlyOutputsThatThisProgramWrote) {
  const ShaderBinding reads{.is_read = true};
  const ShaderBinding writes{.is_written = true};
  const ShaderBinding both{.is_read = true, .is_written = true};
  const ShaderBinding updates{.is_written = true, .is_updated = true};
  EXPECT_EQ(freed_complaint(reads, writes, reads), "");
  EXPECT_THAT(freed_complaint(both, writes, reads), HasSubstr("an input: what it leaves there"))
      << "a note in an input is never right";
  EXPECT_THAT(freed_complaint(reads, reads, writes), HasSubstr("an output: what the program before left"));
  EXPECT_THAT(freed_complaint(reads, both, writes), HasSubstr("an output: what the program before left"));
  EXPECT_THAT(freed_complaint(reads, writes, both), HasSubstr("the output 1 is bound, which dispatch"));
  EXPECT_THAT(freed_complaint(reads, updates, reads), HasSubstr("an output: what the program before left"))
      << "atomics make it from what the program before left";
  EXPECT_EQ(freed_complaint(reads, updates, updates), "") << "nobody sees it";
}

/// How a dispatch of a program 'a', 'b', 'c' uses the scratch 'parts'.
enum class Use : std::uint8_t { None, Reads, Writes, Both, Updates };

/// The error message for three dispatches, the first of which may be set-up.
std::string scratch_complaint(std::array<Use, 3> uses, DispatchRole first = DispatchRole::Op,
                              const std::string& excuse = "") {
  Program program{.scratch = {{.name = "parts"}},
                  .dispatches = {},
                  .free_access_because = {},
                  .unchecked_because = excuse};
  std::vector<ShaderInterface> shaders;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const bool reads = uses[i] == Use::Reads || uses[i] == Use::Both;
    const bool updates = uses[i] == Use::Updates;
    const bool writes = uses[i] == Use::Writes || uses[i] == Use::Both || updates;
    program.dispatches.push_back({.label = std::string(1, static_cast<char>('a' + i)),
                                  .bindings = {Resource::scratch(0)},
                                  .role = i == 0 ? first : DispatchRole::Op});
    ShaderInterface& shader = shaders.emplace_back(ShaderInterface{.local_size = {64, 1, 1}});
    if (uses[i] == Use::None) continue;
    shader.bindings = {{.kind = Kind::StorageBuffer,
                        .name = "s",
                        .readonly = !writes,
                        .is_read = reads,
                        .is_written = writes,
                        .is_updated = updates}};
  }
  try {
    check_interfaces(program, {}, shaders, {}, std::array{TensorAccess::Any});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(InterfaceCheck, ScratchIsWrittenAndThenRead) {
  EXPECT_EQ(scratch_complaint({Use::Writes, Use::Reads, Use::Reads}), "");
  EXPECT_EQ(scratch_complaint({Use::Writes, Use::Writes, Use::Reads}), "");
  EXPECT_EQ(scratch_complaint({Use::Writes, Use::Reads, Use::None}, DispatchRole::Setup), "");
}

TEST(InterfaceCheck, ScratchThatNothingHasWrittenIsNotRead) {
  EXPECT_THAT(scratch_complaint({Use::None, Use::Reads, Use::None}),
              AllOf(HasSubstr("against dispatch 'b'"), HasSubstr("reads set 0, binding 0 ('s')"),
                    HasSubstr("the scratch 'parts' is bound, which no dispatch before it writes")));
  EXPECT_THAT(scratch_complaint({Use::Both, Use::None, Use::None}),
              HasSubstr("no dispatch before it writes"));
}

/// Atomics whose results nobody uses count too: a few of them are a machine that counts programs.
TEST(InterfaceCheck, ScratchThatNothingHasWrittenIsNotUpdated) {
  EXPECT_THAT(scratch_complaint({Use::Updates, Use::Reads, Use::None}),
              AllOf(HasSubstr("against dispatch 'a'"), HasSubstr("updates by atomics set 0, binding 0 ('s')"),
                    HasSubstr("no dispatch before it writes")));
  EXPECT_EQ(scratch_complaint({Use::Writes, Use::Updates, Use::Reads}), "") << "cleared, and then reduced to";
  EXPECT_THAT(scratch_complaint({Use::Writes, Use::Reads, Use::Updates}),
              HasSubstr("which dispatch 'b' reads"));
}

/// The error message for a dispatch that joins what it stores in the scratch 'parts', and writes tensor 0;
/// `late` is its late use of inputs. The dispatch after it uses one of both.
std::string joining_complaint(const std::optional<LateUse>& late, Use parts = Use::None,
                              Use output = Use::None, bool shares_memory = false, bool has_counters = true) {
  Program program{.scratch = {{.name = "parts"},
                              {.name = "other"},
                              {.name = "counters", .is_zero_between_runs = has_counters}},
                  .dispatches = {},
                  .free_access_because = "it is a chain"};
  if (shares_memory) program.scratch[1].in_memory_of = 0;
  const ShaderBinding joined{.kind = Kind::StorageBuffer, .name = "p", .is_read = true, .is_written = true};
  const ShaderBinding made{.binding = 1, .kind = Kind::StorageBuffer, .name = "y", .is_written = true};
  const ShaderBinding counts{
      .binding = 2, .kind = Kind::StorageBuffer, .name = "c", .is_written = true, .is_updated = true};
  std::vector<ShaderInterface> shaders{{.bindings = {joined, made, counts}, .local_size = {64, 1, 1}},
                                       {.bindings = {}, .local_size = {64, 1, 1}}};
  program.dispatches = {
      {.label = "joins", .bindings = {Resource::scratch(0), Resource::tensor(0), Resource::scratch(2)}},
      {.label = "after", .bindings = {}}};
  const auto uses = [&](Resource resource, Use use) {
    ShaderBinding binding{.binding = static_cast<std::uint32_t>(program.dispatches[1].bindings.size()),
                          .kind = Kind::StorageBuffer,
                          .name = "z",
                          .is_read = use == Use::Reads,
                          .is_written = use == Use::Writes};
    if (use == Use::None) return;
    program.dispatches[1].bindings.emplace_back(resource);
    shaders[1].bindings.push_back(binding);
  };
  uses(Resource::scratch(shares_memory ? 1 : 0), parts);
  uses(Resource::tensor(0), output);
  const std::vector tensors(1, Physical({Storage::Buffer, Layout::WP}, DType::I32, {4}));
  try {
    check_interfaces(program, tensors, shaders, {}, std::array{TensorAccess::Write},
                     [&](std::size_t dispatch, const KeptBindings& kept) -> std::optional<LateUse> {
                       EXPECT_EQ(dispatch, 0U);
                       EXPECT_EQ(kept.all, (std::set<std::uint32_t>{0, 2}));
                       EXPECT_EQ(kept.counters, std::set<std::uint32_t>{2});
                       return late;
                     });
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(InterfaceCheck, ADispatchMayJoinWhatItStoresAfterItIsDoneWithItsInputs) {
  EXPECT_EQ(joining_complaint({}), "");
  EXPECT_THAT(joining_complaint(LateUse{"uses a value", {}}),
              AllOf(HasSubstr("against dispatch 'joins'"), HasSubstr("reads set 0, binding 0 ('p')"),
                    HasSubstr("which no dispatch before it writes, and then uses a value: what")));
  EXPECT_THAT(joining_complaint(LateUse{"reads it", 1}),
              HasSubstr("and then reads set 0, binding 1 ('y'): what"));
}

TEST(InterfaceCheck, WithoutCountersThatAreZeroAgainNothingIsJoined) {
  EXPECT_THAT(joining_complaint({}, Use::None, Use::None, /*shares_memory=*/false, /*has_counters=*/false),
              HasSubstr("and then counts in no scratch that is zero between runs"));
}

TEST(InterfaceCheck, NothingElseKnowsWhatAJoiningDispatchKnew) {
  EXPECT_THAT(joining_complaint({}, Use::Writes),
              HasSubstr("and then dispatch 'after' uses its memory, too"));
  EXPECT_THAT(joining_complaint({}, Use::Writes, Use::None, /*shares_memory=*/true),
              HasSubstr("and then dispatch 'after' uses its memory, too"));
  EXPECT_THAT(joining_complaint({}, Use::None, Use::Reads),
              AllOf(HasSubstr("against dispatch 'after'"), HasSubstr("the output 0 is bound"),
                    HasSubstr("which dispatch 'joins' has written after it had read scratch")));
  EXPECT_EQ(joining_complaint({}, Use::None, Use::Writes), "") << "it learns nothing";
}

TEST(InterfaceCheck, ScratchThatWasReadIsNotWritten) {
  EXPECT_THAT(scratch_complaint({Use::Writes, Use::Reads, Use::Writes}),
              AllOf(HasSubstr("against dispatch 'c'"), HasSubstr("writes set 0, binding 0 ('s')"),
                    HasSubstr("which dispatch 'b' reads")));
  EXPECT_THAT(scratch_complaint({Use::Writes, Use::Both, Use::None}), HasSubstr("which dispatch 'b' reads"));
  EXPECT_EQ(scratch_complaint({Use::Writes, Use::Both, Use::None}, DispatchRole::Op, "it sums in place"), "");
}

/// The error message for two dispatches over scratch 'packed', the first of which is set-up; `first`,
/// `second`: whether they only read it.
std::string setup_complaint(bool first, bool second, DispatchRole role = DispatchRole::Op) {
  const auto dispatch = [](std::string label, DispatchRole of) {
    return Dispatch{.label = std::move(label), .bindings = {Resource::scratch(0)}, .role = of};
  };
  const auto shader = [](bool readonly) {
    return ShaderInterface{
        .bindings = {{.kind = Kind::StorageBuffer, .name = "packed", .readonly = readonly}},
        .local_size = {64, 1, 1}};
  };
  const Program program{.scratch = {{.name = "packed"}},
                        .dispatches = {dispatch("pack", DispatchRole::Setup), dispatch("product", role)}};
  try {
    check_interfaces(program, {}, std::array{shader(first), shader(second)}, {});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(InterfaceCheck, WhatSetUpWroteIsReadAndNotWritten) {
  EXPECT_EQ(setup_complaint(false, true), "");
  EXPECT_EQ(setup_complaint(false, false, DispatchRole::Setup), "")
      << "set-up may write it in several dispatches";
  EXPECT_THAT(setup_complaint(false, false),
              AllOf(HasSubstr("against dispatch 'product'"),
                    HasSubstr("may write set 0, binding 0 ('packed'), where the scratch 'packed' is bound, "
                              "which set-up wrote")));
  EXPECT_THAT(setup_complaint(false, false, DispatchRole::Transition), HasSubstr("which set-up wrote"));
}

TEST(InterfaceCheck, SetUpReadsWhatItWroteBefore) {
  EXPECT_THAT(setup_complaint(true, true),
              AllOf(HasSubstr("against dispatch 'pack'"), HasSubstr("reads the scratch 'packed'"),
                    HasSubstr("which no setup dispatch before it writes")));
}

}  // namespace
}  // namespace assay::gpu
