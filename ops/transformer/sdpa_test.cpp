#include "ops/transformer/sdpa.h"

#include "harness/cases/expansion/load.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/spirv/late_use.h"
#include "ops/linear/linear_test_support.h"
#include "ops/registry.h"
#include "ops/transformer/sdpa_tiling.h"
#include "tests/support/on_device.h"
#include "tests/support/shaders_under_test.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>

namespace assay::ops {
namespace {

using namespace test;

class SdpaTest : public OnDeviceTest {
 protected:
  struct Sizes {
    std::int64_t tokens = 1, heads = 1, kv_heads = 1, width = 8, start = 0, capacity = 0;
  };

  Trial trial(const Sizes& sizes, const std::string& impl, const std::string& dtype = "f32") const {
    Params params;
    params.set("S", sizes.tokens);
    params.set("H", sizes.heads);
    params.set("Hkv", sizes.kv_heads);
    params.set("D", sizes.width);
    params.set("start_pos", sizes.start);
    if (sizes.capacity > 0) params.set("C", sizes.capacity);
    params.set("dtype", dtype);
    return with_forms({.op = &op, .params = with_defaults(op, params), .impl = impl});
  }

  Trial with(Trial trial, const std::string& name, const Value& value) const {
    trial.params.set(name, value);
    return with_forms(std::move(trial));
  }

  Trial with_forms(Trial trial) const {
    trial.forms.assign(op.tensors(trial.params).size(), Form{Storage::Buffer, Layout::WP});
    return trial;
  }

  static constexpr Form texture{Storage::Texture3D, Layout::WP};
  Registry ops = registry();
  const Op& op = *ops.find("sdpa");
};

TEST_F(SdpaTest, AgreesWithItsReferenceOnRandomPoints) {
  Draw draw(95);
  for (int round = 0; round < 60 && !HasFatalFailure(); ++round) {
    const std::int64_t kv_heads = draw.pick(1, 3), start = draw.pick(0, 50), tokens = draw.pick(1, 9);
    const auto impl = draw.one_of<std::string>({"fused", "split", "unfused"});
    Trial point = trial({tokens, kv_heads * draw.pick(1, 3), kv_heads, 4 * draw.pick(1, 3), start,
                         start + tokens + draw.pick(0, 4)},
                        impl, draw.one_of<std::string>({"f32", "f16"}));
    point = with(point, "causal", draw.pick(0, 1) == 1);
    point = with(point, "layout", draw.one_of<std::string>({"bshd", "bhsd"}));
    point.seed = static_cast<std::uint64_t>(round);
    point.fill = draw.one_of<FillKind>(
        {FillKind::Normal, FillKind::Saturate, FillKind::Mixed, FillKind::Nan, FillKind::Ends});
    if (impl != "unfused") point.tune = {{"rows", 2}, {"keys", draw.one_of<std::int64_t>({1, 2})}};
    if (impl == "split") point.tune["splits"] = draw.pick(1, 20);
    expect_right(point);
  }
}

TEST_F(SdpaTest, TexturesAgreeWithTheReferenceOnRandomPoints) {
  Draw draw(96);
  for (int round = 0; round < 24 && !HasFatalFailure(); ++round) {
    const std::int64_t kv_heads = draw.pick(1, 3), start = draw.pick(0, 50), tokens = draw.pick(1, 9);
    Trial point =
        trial({tokens, kv_heads * draw.pick(1, 3), kv_heads, 4 * draw.pick(1, 3), start,
               start + tokens + draw.pick(0, 4)},
              draw.one_of<std::string>({"fused", "split"}), draw.one_of<std::string>({"f32", "f16"}));
    point = with(point, "layout", draw.one_of<std::string>({"bshd", "bhsd"}));
    point = with(point, "causal", draw.pick(0, 1) == 1);
    point = with(point, "B", draw.pick(1, 2));
    if (draw.pick(0, 2) > 0) point.forms[0] = point.forms[3] = texture;
    if (draw.pick(0, 2) > 0) point.forms[1] = point.forms[2] = texture;
    point.seed = static_cast<std::uint64_t>(round);
    point.fill = draw.one_of<FillKind>(
        {FillKind::Normal, FillKind::Saturate, FillKind::Mixed, FillKind::Nan, FillKind::Ends});
    point.tune = {{"rows", 2}, {"keys", draw.one_of<std::int64_t>({1, 2})}};
    if (point.impl == "split") point.tune["splits"] = draw.pick(1, 20);
    expect_right(point);
  }
}

TEST_F(SdpaTest, AutoTakesAnImplThatReadsTextures) {
  Trial point = trial({1, 4, 2, 64, 20}, "fused", "f16");
  point.forms.assign(4, texture);
  const std::vector<TensorSpec> tensors = op.tensors(point.params);
  DeviceInfo device = h200();
  const BuildContext of_textures(point.params, tensors, point.forms, device, {});
  EXPECT_EQ(chosen_impl(op, *op.default_impl(), of_textures).name, "fused");
  const std::vector<Form> buffers(4, Form{Storage::Buffer, Layout::WP});
  const BuildContext of_buffers(point.params, tensors, buffers, device, {});
  EXPECT_EQ(chosen_impl(op, *op.default_impl(), of_buffers).name, "coopmat");
}

TEST_F(SdpaTest, OneOfThousandsOfKeysIsMoreThanTheBound) {
  const auto whole = [this](const std::string& impl) { return trial({1, 8, 2, 64, 4095, 4096}, impl); };
  const std::vector<Expected> right = expected_of(whole("fused"));
  const std::vector<Expected> without_the_last = expected_of(trial({1, 8, 2, 64, 4094, 4096}, "fused"));
  for (const std::string impl : {"fused", "split", "unfused"}) {
    EXPECT_TRUE(accepts(whole(impl), right)) << impl;
    EXPECT_FALSE(accepts(whole(impl), without_the_last)) << impl;
  }
}

TEST_F(SdpaTest, WithoutSubgroupsSharedMemoryIsUsed) {
  for (const std::string impl : {"fused", "split"}) {
    Trial point = trial({3, 4, 2, 24, 70}, impl);
    point.tune = {{"keys", 1}, {"rows", 2}};
    point.as_if = [](DeviceInfo& device) { device.features.clear(); };
    EXPECT_THAT(program_of(point).dispatches[0].defines, testing::Contains(Define{"SUBGROUPS", "0"}));
    expect_right(point);
  }
}

TEST_F(SdpaTest, RowsOfTheCacheThatDoNotExistYetAreNanAndAreNotCounted) {
  const Trial point = trial({2, 4, 2, 8, 3, 9}, "fused");
  const std::vector<TensorSpec> tensors = op.tensors(point.params);
  EXPECT_EQ(tensors[1].domain.valid, 5);
  EXPECT_EQ(tensors[1].domain.valid_axis, 1U);
  EXPECT_EQ(op.tensors(with(point, "layout", std::string("bhsd")).params)[1].domain.valid_axis, 2U);
  const Work work = op.work(point.params, tensors);
  EXPECT_EQ(work.bytes_read, 4 * (2 * 4 * 8 + 2 * 5 * 2 * 8));
  EXPECT_EQ(work.bytes_written, 4 * 2 * 4 * 8);
  EXPECT_EQ(work.operations, 4 * 8 * 4 * (4 + 5)) << "the second token sees one key more";
  const Params masked = with(point, "mask", true).params;
  EXPECT_EQ(op.work(masked, op.tensors(masked)).bytes_read, work.bytes_read + 4 * (4 + 5))
      << "of the mask only what visible keys add";
  const Params not_causal = with(point, "causal", false).params;
  EXPECT_EQ(op.work(not_causal, op.tensors(not_causal)).operations, 4 * 8 * 4 * (5 + 5));
}

TEST_F(SdpaTest, AQ8CacheHasScalesWhoseMissingRowsAreNan) {
  const std::vector<TensorSpec> tensors =
      op.tensors(with(trial({1, 2, 2, 8, 3, 9}, "fused"), "cache_dtype", std::string("q8")).params);
  ASSERT_EQ(tensors.size(), 6U);
  EXPECT_EQ(tensors[1].dtype, DType::I8);
  EXPECT_EQ(tensors[3].name, "k_scale");
  EXPECT_EQ(tensors[4].shape, (Shape{1, 9, 2}));
  EXPECT_EQ(tensors[4].domain.valid, 4);
}

TEST_F(SdpaTest, QueriesOfAHeadOfTheCacheShareAWorkgroup) {
  Trial point = trial({3, 6, 2, 8}, "fused");
  EXPECT_EQ(program_of(point).dispatches[0].workgroups[0], 2U * 3U) << "nine queries, four at a time";
  point.tune = {{"rows", 8}};
  EXPECT_EQ(program_of(point).dispatches[0].workgroups[0], 2U * 2U);
}

TEST_F(SdpaTest, NoWorkgroupOfASplitIsEmpty) {
  Trial point = trial({1, 1, 1, 8, 9}, "split");
  point.tune = {{"splits", 7}};
  const Program program = program_of(point);
  ASSERT_EQ(program.dispatches.size(), 2U);
  EXPECT_EQ(program.scratch[0].shape, (Shape{1, 5, 12})) << "ten keys, two at a time";
}

TEST_F(SdpaTest, LongContextsAreSplitByDefaultAndShortOnesAreNot) {
  const auto splits = [&](std::int64_t start) {
    const Trial point = trial({1, 1, 1, 8, start}, "split");
    DeviceInfo large;
    large.shader_cores = 100;
    const std::vector<TensorSpec> tensors = op.tensors(point.params);
    return splits_by_default({point.params, tensors, point.forms, large, point.tune});
  };
  EXPECT_EQ(splits(63), 1);
  EXPECT_EQ(splits(127), 2);
  EXPECT_EQ(splits(1 << 20), most_splits_of_sdpa);
}

/// A prompt of 32 heads of 128, which share 8 of the cache, on a device with a given number of shader cores.
class PromptOnManyCores : public SdpaTest {
 protected:
  AttentionTiling tiling(std::int64_t tokens, std::uint32_t cores, std::int64_t scores,
                         bool causal = true) const {
    Trial point = trial({tokens, 32, 8, 128}, "coopmat", "f16");
    point.params.set("causal", causal);
    point.tune = {{"plain", 1}, {"scores", scores}};
    DeviceInfo device;
    device.shader_cores = cores;
    device.subgroup_size = 32;
    device.max_shared_bytes = 49152;
    const std::vector<TensorSpec> tensors = op.tensors(point.params);
    return attention_tiling({point.params, tensors, point.forms, device, point.tune});
  }
};

TEST_F(PromptOnManyCores, EightSubgroupsShareTilesInMemoryWhereThreeQuartersOfTheCoresAreBusy) {
  EXPECT_EQ(tiling(512, 170, 1).subgroups, 8)
      << "4 x 512 queries of 8 heads, 128 a workgroup: 128 workgroups";
  EXPECT_EQ(tiling(512, 171, 1).subgroups, 4);
}

TEST_F(PromptOnManyCores, FourShareThemWhereAllWorkgroupsBeginAtOnceTwoOnACore) {
  const AttentionTiling at_once = tiling(512, 128, 2);
  EXPECT_EQ(at_once.subgroups, 4) << "64 queries a workgroup: 256 workgroups";
  EXPECT_EQ(at_once.keys, 32);
  EXPECT_EQ(at_once.first_turn, 128) << "a long one on each core, and then a short one";
  const AttentionTiling in_turns = tiling(512, 127, 2);
  EXPECT_EQ(in_turns.subgroups, 8);
  EXPECT_EQ(in_turns.keys, 64);
  EXPECT_EQ(in_turns.first_turn, 128) << "all of them";
  EXPECT_EQ(tiling(512, 300, 2).first_turn, 256) << "all of them, one on a core";
  EXPECT_EQ(tiling(512, 128, 2, false).subgroups, 8) << "all see as many keys";
}

TEST_F(SdpaTest, OnlyManyQueriesOfRegistersHaveTurns) {
  const auto refusal = [&](std::int64_t scores, std::int64_t tokens) {
    Trial point = trial({tokens, 2, 1, 32}, "coopmat", "f16");
    point.tune = {{"plain", 1}, {"scores", scores}, {"first_turn", 4}};
    DeviceInfo device = h200();
    const std::vector<TensorSpec> tensors = op.tensors(point.params);
    return coopmat_sdpa()
        .unsupported_reason({point.params, tensors, point.forms, device, point.tune})
        .value_or("");
  };
  EXPECT_EQ(refusal(2, 70), "");
  EXPECT_THAT(refusal(1, 70), testing::HasSubstr("other kernels have no turns"));
  EXPECT_THAT(refusal(2, 1), testing::HasSubstr("other kernels have no turns")) << "its subgroups share keys";
}

/// How one token of 32 heads, which share 8 of the cache, is computed on an H200.
class DecodeOnH200 : public SdpaTest {
 protected:
  BuildContext context(std::int64_t keys, std::int64_t width) {
    point = trial({1, 32, 8, width, keys - 1}, "coopmat", "f16");
    tensors = op.tensors(point.params);
    return {point.params, tensors, point.forms, device, point.tune};
  }

  DeviceInfo device = h200();
  Trial point;
  std::vector<TensorSpec> tensors;
};

TEST_F(DecodeOnH200, WorkgroupsThatShareKeysAreAsManyAsPay) {
  const auto sharing = [&](std::int64_t keys, std::int64_t width) {
    const AttentionTiling tiling = attention_tiling(context(keys, width));
    EXPECT_TRUE(tiling.decodes());
    return std::pair(tiling.splits, tiling.subgroups);
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(sharing(128, 128), Pair(1, 8)) << "there is nothing to join";
  EXPECT_EQ(sharing(256, 128), Pair(4, 4));
  EXPECT_EQ(sharing(1024, 128), Pair(16, 4));
  EXPECT_EQ(sharing(2048, 128), Pair(16, 8)) << "a tile for each subgroup of each core";
  EXPECT_EQ(sharing(32768, 128), Pair(16, 8));
  EXPECT_EQ(sharing(4096, 64), Pair(16, 8));
  EXPECT_EQ(sharing(32768, 64), Pair(32, 8)) << "two workgroups of short heads have room on a core";
}

TEST_F(DecodeOnH200, TheLastOfThemJoinsButInChains) {
  const Impl& impl = *op.find_impl("coopmat");
  BuildContext built = context(1024, 128);
  EXPECT_EQ(impl.build(built).dispatches.size(), 1U);
  built.is_node_of_chain = true;
  EXPECT_EQ(impl.build(built).dispatches.size(), 2U) << "no later dispatch may read what it writes";
  device.max_storage_buffers_per_stage = 5;
  EXPECT_EQ(impl.build(context(1024, 128)).dispatches.size(), 2U) << "it binds six";
}

/// With the device's matrices, by both extensions; tests on CPUs run plain code.
TEST_F(DecodeOnH200, NothingThatItJoinsCouldSpareItWork) {
  gpu::ShaderLibrary shaders(shaders_under_test());
  for (const bool is_khr : {true, false}) {
    for (const std::int64_t width : {32, 128}) {
      Dispatch dispatch = op.find_impl("coopmat")->build(context(1024, width)).dispatches.front();
      ASSERT_EQ(dispatch.shader, "sdpa_decode.comp");
      if (!is_khr) dispatch.defines = without_khr_matrices(dispatch.defines);
      const std::optional<gpu::LateUse> late =
          gpu::late_use_of_inputs(shaders.compile(dispatch).words, {.all = {4, 5}, .counters = {5}});
      EXPECT_EQ(late ? late->what : "", "") << is_khr << " " << width;
    }
  }
}

std::string lack_of(const Op& op, const Trial& point, const DeviceInfo& device) {
  const std::vector<TensorSpec> tensors = op.tensors(point.params);
  return missing_for(*op.find_impl(point.impl), {point.params, tensors, point.forms, device, point.tune})
      .value_or("");
}

/// Sixteen groups of invocations take 17 iterations for each of their keys: one, and four for each row.
TEST_F(SdpaTest, LoopsThatACpuLeavesEarlyAreRefused) {
  DeviceInfo cpu{.type = "cpu"};
  cpu.features = {Feature::SubgroupShuffle};
  cpu.subgroup_size = 8;
  const auto lack = [&](const std::string& impl, std::int64_t start, const Tune& tune = {}) {
    Trial point = trial({1, 8, 2, 128, start}, impl, "f16");
    point.tune = tune;
    return lack_of(op, point, cpu);
  };
  const std::string reason = " loop iterations per invocation exceed the 65535 that a CPU device runs";
  EXPECT_EQ(lack("fused", 65535), "69845" + reason);
  EXPECT_EQ(lack("fused", 61000), "");
  EXPECT_EQ(lack("split", 65535, {{"splits", 1}}), "69845" + reason);
  EXPECT_EQ(lack("split", 65535, {{"splits", 2}}), "");
  EXPECT_EQ(lack("unfused", 65534), "65536" + reason);
  EXPECT_EQ(lack("unfused", 65533), "");
  cpu.type = "discrete";
  for (const std::string impl : {"fused", "unfused"}) EXPECT_EQ(lack(impl, 65535), "") << impl;
}

TEST_F(SdpaTest, PlainCodeRunsOnRequestAloneWhateverElseIsTuned) {
  DeviceInfo device = h200();
  device.cooperative_shapes.clear();
  std::erase(device.features, Feature::CooperativeMatrixNv);
  const auto lack = [&](const Tune& tune) {
    Trial point = trial({70, 2, 1, 32}, "coopmat", "f16");
    point.tune = tune;
    return lack_of(op, point, device);
  };
  EXPECT_THAT(lack({}), testing::HasSubstr("is missing"));
  EXPECT_THAT(lack({{"subgroups", 2}}), testing::HasSubstr("is missing"));
  EXPECT_EQ(lack({{"subgroups", 2}, {"plain", 1}}), "");
}

std::string invalid_reason_of(const Op& op, const Trial& point) {
  const std::vector<TensorSpec> tensors = op.tensors(point.params);
  const Impl& impl = *op.find_impl(point.impl);
  return impl.invalid_reason({point.params, tensors, point.forms, point.tune}).value_or("");
}

TEST_F(SdpaTest, ImplsSayWhatTheyCannotTake) {
  EXPECT_EQ(invalid_reason_of(op, trial({1, 1, 1, 6}, "fused")), "D is 6, but must be a multiple of 4");
  EXPECT_THAT(invalid_reason_of(op, trial({1, 1, 1, 16}, "coopmat")), testing::HasSubstr("q is f32"));
  EXPECT_THAT(invalid_reason_of(op, trial({1, 1, 1, 48}, "coopmat", "f16")),
              testing::HasSubstr("D is 48, but must be 16, 32, 64, 96 or 128"));
  EXPECT_EQ(invalid_reason_of(op, trial({1, 1, 1, 96}, "coopmat", "f16")), "");
}

TEST_F(SdpaTest, ImplsSayWhichTexturesTheyCannotTake) {
  const auto reason = [&](const std::string& impl, const std::vector<std::size_t>& textures) {
    Trial point = trial({1, 2, 1, 32}, impl, "f16");
    for (const std::size_t tensor : textures) point.forms[tensor] = texture;
    return invalid_reason_of(op, point);
  };
  for (const std::string impl : {"fused", "split"}) {
    EXPECT_EQ(reason(impl, {0, 1, 2, 3}), "");
    EXPECT_EQ(reason(impl, {0, 3}), "");
    EXPECT_EQ(reason(impl, {1, 2}), "");
    EXPECT_THAT(reason(impl, {0}), testing::StartsWith("q is texture3d/WP and y is buffer/WP: "));
    EXPECT_THAT(reason(impl, {1, 0, 3}), testing::StartsWith("k is texture3d/WP and v is buffer/WP: "));
  }
  for (const std::string impl : {"unfused", "coopmat"}) {
    EXPECT_THAT(reason(impl, {1, 2}),
                testing::StartsWith("k is texture3d/WP: this impl reads and writes buffers only"));
  }
}

/// It ended the loading of all cases.
TEST(SdpaCases, APointTooLargeForOneImplIsInvalidForItAlone) {
  const TemporaryFolder folder;
  const Registry all = registry();
  const std::filesystem::path file = folder.write(
      "c.yaml",
      "op: sdpa\n"
      "cases:\n"
      "  - {name: ok, S: 1, H: 1, D: 4}\n"
      "  - {name: a, S: 1048576, H: 1, D: 4, start_pos: 1048577, impl: {each: [fused, unfused]}}\n");
  const LoadResult loaded = load_cases(std::array{file}, all);
  EXPECT_THAT(loaded.errors, ::testing::IsEmpty());
  ASSERT_EQ(loaded.cases.size(), 3U);
  EXPECT_EQ(loaded.cases[0].name, "ok");
  EXPECT_EQ(loaded.cases[1].invalid, std::nullopt);
  EXPECT_THAT(loaded.cases[2].invalid.value_or("valid"), ::testing::HasSubstr("2^40"));
}

}  // namespace
}  // namespace assay::ops
