#include "ops/transformer/rows.h"

#include "ops/registry.h"
#include "tests/support/on_device.h"

#include <algorithm>

namespace assay::ops {
namespace {

using namespace test;

/// The ops whose kernels reduce rows.
class RowsTest : public OnDeviceTest, public testing::WithParamInterface<const char*> {
 protected:
  Trial trial(const Shape& shape, const std::string& dtype, bool residual = false) const {
    Params params;
    params.set("shape", shape);
    params.set("dtype", dtype);
    if (op.find_param("residual") != nullptr) params.set("residual", residual);
    Trial made{.op = &op, .params = with_defaults(op, params)};
    made.forms.assign(op.tensors(made.params).size(), Form{Storage::Buffer, Layout::WP});
    return made;
  }

  /// The same point, with the tensors in textures that can be.
  Trial in_textures(Trial point) const {
    const std::vector<TensorSpec> tensors = op.tensors(point.params);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].forms.size() > 1) point.forms[i] = {Storage::Texture3D, Layout::WP};
    }
    return point;
  }

  Registry ops = registry();
  const Op& op = *ops.find(GetParam());
};

TEST_P(RowsTest, AgreesWithItsReferenceOnRandomPoints) {
  Draw draw(92);
  for (int round = 0; round < 60 && !HasFatalFailure(); ++round) {
    Trial point = trial(draw.shape(9), draw.one_of<std::string>({"f32", "f16"}), round % 2 == 0);
    point.seed = static_cast<std::uint64_t>(round);
    point.fill =
        draw.one_of<FillKind>({FillKind::Normal, FillKind::Wide, FillKind::Saturate, FillKind::Outlier,
                               FillKind::Special, FillKind::Mixed, FillKind::Nan});
    if (round % 3 == 0) point.tune = {{"columns", draw.one_of<std::int64_t>({1, 2, 16})}};
    if (round % 4 == 0) point.tune["local_size"] = draw.one_of<std::int64_t>({1, 32, 100});
    expect_right(round % 5 == 0 ? in_textures(point) : point);
  }
}

TEST_P(RowsTest, RowsLongerThanWhatIsKeptAreReadAgain) {
  for (const std::int64_t width : {132, 133, 134, 135}) {  // 8 quads of 4 columns are 128 values
    for (const std::string dtype : {"f32", "f16"}) {
      Trial point = trial({5, width}, dtype, true);
      point.tune = {{"columns", 4}, {"local_size", 8}};
      EXPECT_EQ(constant_of(program_of(point).dispatches[0], "kept"), 8U);
      expect_right(point);
    }
  }
}

// Two columns, two workgroups of two rows: what differs from the first shape leaves something to check.
TEST_P(RowsTest, RowsThatFillTheirInvocationsAreNotChecked) {
  for (const auto& [shape, complete] : {std::pair{Shape{4, 64}, true},
                                        {Shape{3, 64}, false},     // half a workgroup is idle
                                        {Shape{4, 60}, false},     // a column has a quad less
                                        {Shape{4, 65}, false},     // rows share quads
                                        {Shape{4, 72}, false}}) {  // more than is kept
    for (const std::string dtype : {"f32", "f16"}) {
      Trial point = trial(shape, dtype, true);
      point.tune = {{"columns", 2}, {"local_size", 4}};
      point.fill = FillKind::Special;
      EXPECT_EQ(constant_of(program_of(point).dispatches[0], "complete"), complete ? 1U : 0U);
      expect_right(point);
      expect_right(in_textures(point));
    }
  }
}

TEST_P(RowsTest, HalvesAreTakenInPairsOfQuadsWhereAnInvocationKeepsPairs) {
  const auto in_pairs = [this](const Trial& point) {
    return testing::Matches(testing::Contains(Define{"PAIRS", "1"}))(program_of(point).dispatches[0].defines);
  };
  for (const auto& [shape, dtype, pairs] : {std::tuple{Shape{4, 64}, "f16", true},
                                            {Shape{4, 16}, "f16", true},
                                            {Shape{4, 48}, "f16", true},
                                            {Shape{4, 40}, "f16", false},  // five quads each
                                            {Shape{4, 8}, "f16", false},
                                            {Shape{3, 64}, "f16", false},
                                            {Shape{4, 64}, "f32", false}}) {
    Trial point = trial(shape, dtype, true);
    point.tune = {{"columns", 2}, {"local_size", 4}};
    EXPECT_EQ(in_pairs(point), pairs) << to_string(shape) << " " << dtype;
    EXPECT_FALSE(in_pairs(in_textures(point)));
    expect_right(point);
  }
}

TEST_P(RowsTest, TexturesOfEveryRankHoldRows) {
  for (const Shape& shape :
       {Shape{7}, Shape{5, 8}, Shape{3, 5, 9}, Shape{2, 3, 5, 132}, Shape{2, 3, 1, 131}}) {
    Trial point = in_textures(trial(shape, "f16", true));
    point.tune = {{"columns", 4}};
    expect_right(point);
  }
}

TEST_P(RowsTest, ATextureBesideABufferIsRefused) {
  Trial point = trial({3, 8}, "f32");
  point.forms[0] = {Storage::Texture3D, Layout::WP};
  const std::vector<TensorSpec> tensors = op.tensors(point.params);
  EXPECT_THAT(
      op.impls.front().invalid_reason(ImplPoint{point.params, tensors, point.forms, {}}).value_or(""),
      testing::HasSubstr("x is texture3d/WP and y is buffer/WP: an invocation writes where it reads"));
}

TEST_P(RowsTest, WithoutSubgroupsSharedMemoryIsUsed) {
  Trial point = trial({3, 133}, "f16", true);
  point.as_if = [](DeviceInfo& device) { device.features.clear(); };
  const Dispatch dispatch = program_of(point).dispatches[0];
  EXPECT_THAT(dispatch.defines, testing::Contains(Define{"SUBGROUPS", "0"}));
  expect_right(point);
}

TEST_P(RowsTest, ShortRowsShareAWorkgroupAndLongOnesHaveOneEach) {
  const Dispatch of_short = program_of(trial({64, 16}, "f32")).dispatches[0];
  EXPECT_EQ(of_short.local_size[0], 128U);
  EXPECT_EQ(of_short.workgroups[0], 2U) << "four invocations a row";
  const Dispatch of_long = program_of(trial({3, 4096}, "f32")).dispatches[0];
  EXPECT_EQ(constant_of(of_long, "column_bits"), 8U);
  EXPECT_EQ(of_long.local_size[0], 256U);
  EXPECT_EQ(of_long.workgroups[0], 3U);
}

TEST_P(RowsTest, ASmallDeviceHasSmallWorkgroups) {
  Trial point = trial({3, 4096}, "f16");
  point.as_if = [](DeviceInfo& device) { device.max_workgroup_invocations = 128; };
  EXPECT_EQ(program_of(point).dispatches[0].local_size[0], 128U);
  expect_right(point);
}

TEST_P(RowsTest, LoopsThatACpuLeavesEarlyAreRefused) {
  const auto lack = [this](const std::string& type, const Tune& tune) {
    const Trial point = trial({1, 1 << 20}, "f32");
    const std::vector<TensorSpec> tensors = op.tensors(point.params);
    const DeviceInfo device{.type = type};
    return missing_for(op.impls.front(), {point.params, tensors, point.forms, device, tune}).value_or("");
  };
  EXPECT_THAT(lack("cpu", {{"columns", 1}}),
              testing::EndsWith("loop iterations per invocation exceed the 65535 that a CPU device runs"));
  EXPECT_EQ(lack("cpu", {}), "");
  EXPECT_EQ(lack("discrete", {{"columns", 1}}), "");
}

INSTANTIATE_TEST_SUITE_P(OfOp, RowsTest, testing::Values("softmax", "rms_norm", "layer_norm"),
                         [](const auto& param) { return std::string(param.param); });

class RowSharingTest : public OnDeviceTest {};

TEST_F(RowSharingTest, ARowTouchesSoManyQuadsWhereverItBegins) {
  for (std::int64_t width = 1; width < 20; ++width) {
    std::int64_t most = 0;
    for (std::int64_t begin = 0; begin < 4 * width; begin += width)
      most = std::max(most, (begin + width - 1) / 4 - begin / 4 + 1);
    EXPECT_EQ((RowSharing{.width = width}).quads(), most) << width;
  }
  EXPECT_EQ((RowSharing{.width = 64, .columns = 4}).steps(), 4);
}

/// A softmax of float32 on a device with workgroups of 1024 and subgroups of 32.
struct RowPoint {
  explicit RowPoint(const Shape& shape) {
    const Registry ops = registry();
    params.set("shape", shape);
    params.set("dtype", std::string("f32"));
    tensors = ops.find("softmax")->tensors(params);
    device.max_workgroup_invocations = 1024;
    device.max_workgroup_size = {1024, 1024, 64};
    device.subgroup_size = 32;
  }
  BuildContext context(const Tune& tune) const { return {params, tensors, forms, device, tune}; }

  Params params;
  std::vector<TensorSpec> tensors;
  std::vector<Form> forms{2, Form{Storage::Buffer, Layout::WP}};
  DeviceInfo device;
};

TEST_F(RowSharingTest, AdditionsGrowWithAnInvocationsStepsAndTheColumns) {
  const RowPoint point({2, 4096});
  EXPECT_EQ(additions_of_row(point.context({{"columns", 1}})), 1024 + 2);
  EXPECT_EQ(additions_of_row(point.context({{"columns", 32}})), 32 + 2 + 5);
  EXPECT_EQ(additions_of_row(point.context({{"columns", 256}})), 4 + 2 + 8 + 8);
}

TEST_F(RowSharingTest, AnInvocationHasEightQuadsOnlyOfManyLongRows) {
  const auto quads = [](const Shape& shape) { return row_sharing(RowPoint(shape).context({})).steps(); };
  EXPECT_EQ(quads({513, 4096}), 8);
  EXPECT_EQ(quads({512, 4096}), 4);
  EXPECT_EQ(quads({513, 2048}), 4);
  EXPECT_EQ(quads({513, 8}), 1);
}

}  // namespace
}  // namespace assay::ops
