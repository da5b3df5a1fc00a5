#include "ops/choose_qparams/choose.h"
#include "ops/registry.h"
#include "tests/support/on_device.h"

namespace assay::ops {
namespace {

using namespace test;

const std::vector<FillKind> fills{FillKind::Normal,  FillKind::Ties,    FillKind::Wide, FillKind::Mixed,
                                  FillKind::Outlier, FillKind::Special, FillKind::Zero};

/// Draws random points that choose_qparams_affine accepts.
class Points : public Draw {
 public:
  using Draw::Draw;

  Params params(std::int64_t most) {
    const Shape dims = shape(most);
    std::vector<std::int64_t> block;
    for (const std::int64_t dim : dims) block.push_back(one_of<std::int64_t>({1, 2, -1, pick(1, dim)}));
    for (std::size_t i = 0; i < dims.size(); ++i) block[i] = std::min(block[i], dims[i]);
    Params params;
    params.set("shape", dims);
    params.set("block_size", block);
    params.set("dtype", one_of<std::string>({"f32", "f16"}));
    params.set("mapping", one_of<std::string>({"asymmetric", "symmetric", "symmetric_no_clipping_err"}));
    params.set("quant_min", one_of<std::int64_t>({-128, -127, -8}));
    params.set("eps", one_of<double>({0x1p-23, 0.25}));
    return params;
  }

  std::map<std::string, std::int64_t> tune() {
    return {{"local_size", one_of<std::int64_t>({1, 4, 32, 100, 256})},
            {"splits", one_of<std::int64_t>({1, 2, 8})},
            {"quads", one_of<std::int64_t>({1, 3, 4, 8})}};
  }
};

/// The least capable device: no exchange of registers, and no limit above Vulkan's guaranteed minimum.
void as_least_device(DeviceInfo& device) {
  const DeviceInfo least;
  std::erase(device.features, Feature::SubgroupShuffle);
  device.max_workgroup_size = least.max_workgroup_size;
  device.max_workgroup_invocations = least.max_workgroup_invocations;
}

/// A device that has several subgroup sizes and lets a dispatch demand its own.
void as_varying_device(DeviceInfo& device) {
  device.min_subgroup_size = device.subgroup_size / 2;
}

/// The value of SUBGROUPS of a dispatch.
std::string subgroups_of(const Dispatch& dispatch) {
  for (const Define& define : dispatch.defines) {
    if (define.name == "SUBGROUPS") return define.value;
  }
  return "none";
}

class ChooseQParamsTest : public OnDeviceTest {
 protected:
  void try_points(const std::string& impl, int count, std::uint32_t seed,
                  const std::function<void(DeviceInfo&)>& as_if = {}) {
    const Op& op = *ops.find("choose_qparams_affine");
    Points points(seed);
    for (int round = 0; round < count && !HasFatalFailure(); ++round) {
      Trial trial{.op = &op, .params = with_defaults(op, points.params(13)), .impl = impl};
      trial.seed = static_cast<std::uint64_t>(round);
      trial.forms = points.forms(op.tensors(trial.params));
      trial.fill = points.one_of(fills);
      if (impl == "workgroup") trial.tune = points.tune();
      trial.as_if = as_if;
      expect_right(trial);
    }
  }

  /// Runs random points of quantize_dynamic with each impl.
  void try_dynamic_points(int count, std::uint32_t seed, const std::function<void(DeviceInfo&)>& as_if = {}) {
    const Op& op = *ops.find("quantize_dynamic");
    Points points(seed);
    for (int round = 0; round < count && !HasFatalFailure(); ++round) {
      const Params params = points.params(40);
      Params dynamic;
      for (const std::string name : {"shape", "dtype", "mapping", "quant_min", "eps"})
        dynamic.set(name, params.at(name));
      dynamic.set("quantized", points.one_of<std::string>({"i8", "i32"}));
      Trial trial{.op = &op, .params = with_defaults(op, dynamic), .seed = static_cast<std::uint64_t>(round)};
      const Form form =
          points.one_of<Form>({{Storage::Buffer, Layout::WP}, {Storage::Texture3D, Layout::WP}});
      trial.forms = {form, {}, {}, form};
      trial.impl = points.one_of<std::string>({"fused", "unfused"});
      trial.fill = points.one_of(fills);
      if (trial.impl == "fused" && round % 3 == 0)
        trial.tune = {{"columns", points.one_of<std::int64_t>({1, 2, 16})}};
      trial.as_if = as_if;
      expect_right(trial);
    }
  }

  Trial trial_of(const std::string& name, Params params, FillKind fill) {
    const Op& op = *ops.find(name);
    Trial trial{.op = &op, .params = with_defaults(op, std::move(params)), .fill = fill, .seed = 9};
    for (const TensorSpec& tensor : op.tensors(trial.params)) trial.forms.push_back(tensor.forms.front());
    return trial;
  }

  Registry ops = registry();
};

TEST_F(ChooseQParamsTest, WorkgroupAgreesWithTheReferenceOnRandomPoints) {
  try_points("workgroup", 80, 71);
}

TEST_F(ChooseQParamsTest, SerialAgreesWithTheReferenceOnRandomPoints) {
  try_points("serial", 24, 72);
}

TEST_F(ChooseQParamsTest, EveryRuleIsRightOnRowsOfEveryKind) {
  for (const std::string name :
       {"choose_qparams_tensor", "choose_qparams_per_token_asymmetric", "choose_qparams_per_row"}) {
    for (const FillKind fill : fills) {
      Params params;
      params.set("shape", Shape{17, 130});
      expect_right(trial_of(name, params, fill));
    }
  }
}

TEST_F(ChooseQParamsTest, LargeBlocksAreSharedByWorkgroups) {
  Params params;
  params.set("shape", Shape{3, 300000});
  params.set("block_size", std::vector<std::int64_t>{1, -1});
  const Trial trial = trial_of("choose_qparams_affine", params, FillKind::Outlier);
  EXPECT_EQ(program_of(trial).dispatches.size(), 2u);
  expect_right(trial);
}

TEST_F(ChooseQParamsTest, SmallBlocksAreReadSeveralQuadsAnInvocation) {
  for (const auto& [dtype, quads] : {std::pair<std::string, std::uint32_t>{"f32", 2}, {"f16", 4}}) {
    Params params;
    params.set("shape", Shape{1030, 4096});
    params.set("block_size", std::vector<std::int64_t>{1, 32});
    params.set("dtype", dtype);
    Trial trial = trial_of("choose_qparams_affine", params, FillKind::Mixed);
    trial.as_if = [](DeviceInfo& device) { device.type = "discrete"; };
    const Program program = program_of(trial);
    ASSERT_EQ(program.dispatches.size(), 1u);
    EXPECT_EQ(program.dispatches[0].workgroups[0] * program.dispatches[0].local_size[0], 1030 * 1024 / quads);
    expect_right(trial);
  }
}

TEST_F(ChooseQParamsTest, RowsAreReadAtOnceAsFarAsRegistersHoldThem) {
  for (const std::int64_t width : {516, 1024, 4096, 4097, 4100}) {  // 8 quads for 128 invocations; more
    Params params;
    params.set("shape", Shape{200, width});
    params.set("block_size", std::vector<std::int64_t>{1, -1});
    expect_right(trial_of("choose_qparams_affine", params, FillKind::Mixed));
  }
}

TEST_F(ChooseQParamsTest, RowsOfHalvesAndOfTexelsAreReadAtOnceToo) {
  const std::function<void(DeviceInfo&)> as_it_is;
  for (const auto& as_if : {as_it_is, std::function<void(DeviceInfo&)>(as_least_device)}) {
    for (const auto& [dtype, width, form] :
         {std::tuple<std::string, std::int64_t, Form>{"f16", 4096, {}},
          {"f16", 4100, {}},
          {"f32", 2048, {Storage::Texture3D, Layout::WP}},  // 4 texels for each of 128 invocations
          {"f32", 2052, {Storage::Texture3D, Layout::WP}}}) {
      Params params;
      params.set("shape", Shape{200, width});
      params.set("block_size", std::vector<std::int64_t>{1, -1});
      params.set("dtype", dtype);
      Trial trial = trial_of("choose_qparams_affine", params, FillKind::Mixed);
      trial.forms[0] = form;
      trial.as_if = as_if;
      expect_right(trial);
    }
  }
}

TEST_F(ChooseQParamsTest, DynamicQuantizationIsRightHoweverARowIsShared) {
  const Op& op = *ops.find("quantize_dynamic");
  int round = 0;
  for (const std::string quantized : {"i8", "u8", "i32"}) {
    for (const std::int64_t columns : {1, 4, 8, 128}) {  // 128, 32, 16 (all kept) and 1 quad each
      for (const std::int64_t once : {0, 1}) {
        Params params;
        params.set("shape", Shape{64, 512});
        params.set("quantized", quantized);
        params.set("dtype", std::string(round % 2 == 0 ? "f16" : "f32"));
        Trial trial{.op = &op, .params = with_defaults(op, params), .fill = FillKind::Mixed, .seed = 13};
        const Form form{round % 3 == 0 ? Storage::Texture3D : Storage::Buffer, Layout::WP};
        trial.forms = {form, {}, {}, form};
        trial.impl = "fused";
        trial.tune = {{"columns", columns}, {"once", once}};
        if (round % 5 == 0) trial.as_if = as_least_device;
        expect_right(trial);
        ++round;
      }
    }
  }
}

TEST_F(ChooseQParamsTest, DynamicQuantizationIsRightOnRandomPoints) {
  try_dynamic_points(48, 73);
}

TEST_F(ChooseQParamsTest, RowsThatFillTheirInvocationsAreNotChecked) {
  const Op& op = *ops.find("quantize_dynamic");
  // Few tokens, for which all invocations compute the parameters, and many.
  for (const auto& [shape, complete] : {std::pair{Shape{64, 512}, true},
                                        {Shape{1024, 512}, true},
                                        {Shape{1021, 512}, false},
                                        {Shape{1024, 516}, false}}) {
    for (const FillKind fill : {FillKind::Mixed, FillKind::Special}) {
      Params params;
      params.set("shape", shape);
      Trial trial{.op = &op, .params = with_defaults(op, params), .fill = fill, .seed = 12};
      const Form form{Storage::Buffer, Layout::WP};
      trial.forms = {form, {}, {}, form};
      trial.impl = "fused";
      EXPECT_EQ(constant_of(program_of(trial).dispatches[0], "complete"), complete ? 1U : 0U);
      expect_right(trial);
    }
  }
}

TEST_F(ChooseQParamsTest, TheLeastDeviceReducesInSharedMemory) {
  try_points("workgroup", 40, 74, as_least_device);
  try_dynamic_points(24, 75, as_least_device);
}

TEST_F(ChooseQParamsTest, ADeviceOfSeveralSubgroupSizesReducesInRegistersOfFullOnes) {
  if (!device().info().has(Feature::FullSubgroups)) GTEST_SKIP() << "the device cannot demand full subgroups";
  try_points("workgroup", 40, 76, as_varying_device);
  try_dynamic_points(24, 77, as_varying_device);
}

TEST_F(ChooseQParamsTest, TheLeastDeviceTakesLargeBlocksInWorkgroupsOf128) {
  Params params;
  params.set("shape", Shape{3, 300000});
  for (const std::string op : {"choose_qparams_tensor", "choose_qparams_per_row", "quantize_dynamic"}) {
    Trial trial = trial_of(op, params, FillKind::Outlier);
    trial.as_if = as_least_device;
    for (const Dispatch& dispatch : program_of(trial).dispatches) EXPECT_LE(dispatch.local_size[0], 128u);
    expect_right(trial);
  }
}

TEST_F(ChooseQParamsTest, SubgroupsExchangeRegistersWhereTheyHaveOneSizeOrTheirOwnIsDemanded) {
  Params params;
  params.set("shape", Shape{3, 300000});
  for (const std::string op : {"choose_qparams_tensor", "quantize_dynamic"}) {
    Trial trial = trial_of(op, params, FillKind::Normal);
    for (const auto& [least, full, used, demanded] : {std::tuple{32u, false, "1", 0u},
                                                      {32u, true, "1", 32u},
                                                      {8u, false, "0", 0u},
                                                      {8u, true, "1", 32u}}) {
      trial.as_if = [least = least, full = full](DeviceInfo& device) {
        device.features = {Feature::SubgroupShuffle};
        if (full) device.features.push_back(Feature::FullSubgroups);
        device.min_subgroup_size = least;
        device.subgroup_size = device.max_subgroup_size = 32;
      };
      for (const Dispatch& dispatch : program_of(trial).dispatches) {
        EXPECT_EQ(subgroups_of(dispatch), used) << op;
        EXPECT_EQ(dispatch.subgroup_size, demanded) << op;
      }
    }
  }
}

/// The impl that `auto` chooses for [16, 4096] with this block, on a device of this type.
std::string chosen_on(const std::string& type, std::int64_t block) {
  const Registry ops = registry();
  const Op& op = *ops.find("choose_qparams_affine");
  Params params;
  params.set("shape", Shape{16, 4096});
  params.set("block_size", std::vector<std::int64_t>{1, block});
  params = with_defaults(op, params);
  const std::vector<TensorSpec> tensors = op.tensors(params);
  const std::vector<Form> forms(tensors.size());
  DeviceInfo device;
  device.type = type;
  return op.find_impl("auto")->choose({params, tensors, forms, device, {}}).front();
}

TEST(ChooseQParamsAuto, TakesOneInvocationABlockWhereWaitingIsDear) {
  EXPECT_EQ(chosen_on("cpu", -1), "serial");
  EXPECT_EQ(chosen_on("cpu", 32), "workgroup");  // a few invocations, which need not wait
  EXPECT_EQ(chosen_on("discrete", -1), "workgroup");
}

Boxes boxes(const Shape& shape, const std::vector<std::int64_t>& block, Form form = {}) {
  return boxes_of(references::block_grid(shape, block), Physical(form, DType::F32, shape), true);
}

TEST(Boxes, ATokenIsOneRowOfQuads) {
  const Boxes tokens = boxes({16, 4096}, {1, -1});
  EXPECT_EQ(tokens.count(), 16);
  EXPECT_EQ(tokens.axes[0].vectors, 1024);
  EXPECT_EQ(tokens.rows(), 1);
  EXPECT_TRUE(tokens.whole);
}

TEST(Boxes, RowsThatBeginInsideQuadsTouchOneMore) {
  const Boxes tokens = boxes({16, 4098}, {1, -1});
  EXPECT_EQ(tokens.axes[0].vectors, 1026);
  EXPECT_FALSE(tokens.whole);
}

TEST(Boxes, SingleColumnsAreReadFourAtATime) {
  const Boxes columns = boxes({100, 64}, {-1, 1});
  EXPECT_TRUE(columns.lanes_apart);
  EXPECT_EQ(columns.count(), 16);
  EXPECT_EQ(columns.rows(), 100);
  EXPECT_FALSE(boxes({100, 66}, {-1, 1}).lanes_apart);  // rows do not begin at quads
}

TEST(Boxes, TexturesCountTexelsAlongThePackedDim) {
  const Boxes channels = boxes({2, 7, 5, 6}, {1, 1, -1, -1}, {Storage::Texture3D, Layout::CP});
  EXPECT_EQ(channels.packed, 2u);
  EXPECT_TRUE(channels.lanes_apart);
  EXPECT_EQ(channels.count(), 2 * 2);
  EXPECT_EQ(channels.vectors(), 6 * 5);
}

TEST(WorkgroupTilings, LoopsThatACpuLeavesEarlyAreRefused) {
  const Registry ops = registry();
  const Op& op = *ops.find("choose_qparams_tensor");
  Params given;
  given.set("shape", Shape{1 << 21});
  const Params params = with_defaults(op, given);
  const std::vector<TensorSpec> tensors = op.tensors(params);
  const std::vector<Form> forms(tensors.size(), Form{Storage::Buffer, Layout::WP});
  const auto lack = [&](const std::string& type, const Tune& tune) {
    const DeviceInfo device{.type = type};
    return missing_for(*op.find_impl("workgroup"), {params, tensors, forms, device, tune}).value_or("");
  };
  const Tune one{{"local_size", 1}, {"splits", 1}};
  EXPECT_EQ(lack("cpu", one), "131073 loop iterations per invocation exceed the 65535 that a CPU device runs")
      << "an invocation loads four of 2^19 quads at once";
  EXPECT_EQ(lack("cpu", {{"local_size", 1}, {"splits", 4}}), "");
  EXPECT_EQ(lack("cpu", {}), "");
  EXPECT_EQ(lack("discrete", one), "");
}

TEST(WorkgroupTilings, NeighboursReadNeighboursWhateverTheBlock) {
  const WorkgroupTiling tokens = tiling_of(boxes({16384, 4096}, {1, -1}), 256, 4, 8);
  EXPECT_EQ(tokens.columns, 256);
  EXPECT_EQ(tokens.each, 4);
  EXPECT_EQ(tokens.splits, 1);
  const WorkgroupTiling groups = tiling_of(boxes({16384, 4096}, {1, 32}), 256, 4, 8);
  EXPECT_EQ(groups.columns, 2);
  EXPECT_EQ(groups.each, 4);
  EXPECT_EQ(groups.boxes, 128);
  const WorkgroupTiling columns = tiling_of(boxes({16384, 4096}, {-1, 1}), 256, 4, 8);
  EXPECT_EQ(columns.columns, 1);
  EXPECT_EQ(columns.boxes, 32);
  EXPECT_EQ(columns.rows, 8);
  EXPECT_EQ(columns.splits, 32);
  const WorkgroupTiling whole = tiling_of(boxes({16384, 4096}, {-1, -1}), 256, 4, 8);
  EXPECT_EQ(whole.columns, 256);
  EXPECT_EQ(whole.splits, 1024);
}

}  // namespace
}  // namespace assay::ops
