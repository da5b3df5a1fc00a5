#include "ops/registry.h"
#include "tests/support/on_device.h"

namespace assay::ops {
namespace {

using namespace test;

Params clone_params(const Shape& shape, const std::string& dtype) {
  Params params;
  params.set("shape", shape);
  params.set("dtype", dtype);
  return params;
}

class FloatCloneTest : public OnDeviceTest {
 protected:
  /// Each pair of forms that can hold the shape.
  void expect_right_in_every_pair(const Shape& shape, const std::string& dtype,
                                  const std::map<std::string, std::int64_t>& tune = {}) {
    const Params params = clone_params(shape, dtype);
    const std::vector<TensorSpec> tensors = op->tensors(params);
    int tried = 0;
    for (const Form x : tensors[0].forms) {
      for (const Form y : tensors[1].forms) {
        if (!can_hold(x, tensors[0]) || !can_hold(y, tensors[1])) continue;
        expect_right({.op = op, .params = params, .forms = {x, y}, .fill = FillKind::Wide, .tune = tune});
        ++tried;
      }
    }
    EXPECT_GE(tried, 36);  // buffers and 3D textures, each in three layouts
  }

  Registry ops = registry();
  const Op* op = ops.find("clone");
};

TEST_F(FloatCloneTest, MovesTailsOfEveryAxisAndBatches) {
  expect_right_in_every_pair({2, 5, 3, 7}, "f32");
  expect_right_in_every_pair({2, 5, 3, 7}, "f16");
}

TEST_F(FloatCloneTest, MovesWholeTiles) {
  expect_right_in_every_pair({2, 8, 4, 12}, "f32");
  expect_right_in_every_pair({2, 8, 4, 12}, "f16");
}

TEST_F(FloatCloneTest, MovesTensorsThatAreThinAlongAnAxisAlsoFlatOnes) {
  expect_right_in_every_pair({1, 9, 6, 1}, "f32");
  expect_right_in_every_pair({6, 13}, "f32");
  expect_right_in_every_pair({5}, "f16");
}

TEST_F(FloatCloneTest, MovesTensorsOfManyBoxes) {
  expect_right_in_every_pair({2, 17, 21, 23}, "f32");
}

TEST_F(FloatCloneTest, MovesHalvesByTilesOfEight) {
  const Shape shape{2, 24, 40, 48};
  const Form wp{Storage::Buffer, Layout::WP};
  const Form cp{Storage::Buffer, Layout::CP};
  const Trial trial{.op = op, .params = clone_params(shape, "f16"), .forms = {wp, cp}};
  EXPECT_EQ(program_of(trial).dispatches.front().shader, "relayout_halves.comp");
  expect_right_in_every_pair(shape, "f16");
  expect_right_in_every_pair(shape, "f16", {{"local_size", 7}});
}

TEST_F(FloatCloneTest, IsRightWithAnyTunedLocalSize) {
  for (const std::int64_t local_size : {1, 7, 1024}) {
    expect_right_in_every_pair({2, 9, 6, 11}, "f32", {{"local_size", local_size}});
  }
}

TEST_F(FloatCloneTest, IsRightWithAnyTunedBox) {
  for (const std::map<std::string, std::int64_t>& tune :
       {std::map<std::string, std::int64_t>{{"local_x", 3}, {"local_y", 5}, {"local_z", 2}},
        {{"local_x", 1}, {"local_y", 1}, {"local_z", 7}}}) {
    expect_right_in_every_pair({2, 9, 6, 11}, "f32", tune);
    expect_right_in_every_pair({2, 24, 40, 48}, "f16", tune);
  }
}

TEST_F(FloatCloneTest, HalvesGoByEightWhereBothPackedAxesAreMultiplesOfIt) {
  const Form wp{Storage::Buffer, Layout::WP};
  const Form hp{Storage::Buffer, Layout::HP};
  const Form cp{Storage::Buffer, Layout::CP};
  const auto shader = [&](const Shape& shape, Form x, Form y) {
    return program_of({.op = op, .params = clone_params(shape, "f16"), .forms = {x, y}}).dispatches[0].shader;
  };
  EXPECT_EQ(shader({2, 8, 5, 16}, wp, cp), "relayout_halves.comp");
  EXPECT_EQ(shader({2, 8, 5, 16}, wp, hp), "gather.comp");  // rows of 5 halves share words
  EXPECT_EQ(shader({2, 12, 5, 16}, wp, cp), "relayout.comp");
  expect_right_in_every_pair({2, 24, 5, 48}, "f16");
}

TEST_F(FloatCloneTest, AgreesWithItsReferenceOnRandomShapes) {
  Draw draw(71);
  for (int round = 0; round < 40 && !HasFatalFailure(); ++round) {
    const Params params = clone_params(draw.shape(11), draw.one_of<std::string>({"f32", "f16"}));
    Trial trial{.op = op, .params = params, .seed = static_cast<std::uint64_t>(round)};
    trial.forms = draw.forms(op->tensors(params));
    trial.fill = draw.one_of<FillKind>({FillKind::Normal, FillKind::Wide, FillKind::Outlier});
    expect_right(trial);
  }
}

TEST_F(FloatCloneTest, DeclaresThatACopyIsRight) {
  EXPECT_FALSE(op->tensors(clone_params({4}, "f32")).back().copy_because.empty());
}

}  // namespace
}  // namespace assay::ops
