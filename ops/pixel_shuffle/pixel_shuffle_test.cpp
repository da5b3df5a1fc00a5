#include "harness/base/error.h"
#include "ops/registry.h"
#include "tests/support/on_device.h"

namespace assay::ops {
namespace {

using namespace test;

Params shuffle_params(const Shape& shape, std::int64_t r, const std::string& dtype) {
  Params params;
  params.set("shape", shape);
  params.set("upscale_factor", r);
  params.set("dtype", dtype);
  return params;
}

class FloatShuffleTest : public OnDeviceTest {
 protected:
  /// Each pair of forms that can hold both tensors.
  void expect_right_in_every_pair(const Shape& shape, std::int64_t r, const std::string& dtype) {
    const Params params = shuffle_params(shape, r, dtype);
    const std::vector<TensorSpec> tensors = op->tensors(params);
    int tried = 0;
    for (const Form x : tensors[0].forms) {
      for (const Form y : tensors[1].forms) {
        if (!can_hold(x, tensors[0]) || !can_hold(y, tensors[1])) continue;
        expect_right({.op = op, .params = params, .forms = {x, y}, .fill = FillKind::Wide});
        ++tried;
      }
    }
    EXPECT_GE(tried, 36);  // buffers and 3D textures, each in three layouts
  }

  std::string shader_of(const Shape& shape, std::int64_t r, const std::string& dtype, Form x, Form y) {
    return program_of({.op = op, .params = shuffle_params(shape, r, dtype), .forms = {x, y}})
        .dispatches.front()
        .shader;
  }

  Registry ops = registry();
  const Op* op = ops.find("pixel_shuffle");
  const Form wp{Storage::Buffer, Layout::WP};
  const Form hp{Storage::Buffer, Layout::HP};
  const Form cp{Storage::Buffer, Layout::CP};
  const Form texture_wp{Storage::Texture3D, Layout::WP};
  const Form texture_cp{Storage::Texture3D, Layout::CP};
};

TEST_F(FloatShuffleTest, IsRightInEveryPairOfForms) {
  expect_right_in_every_pair({2, 20, 3, 5}, 2, "f32");
  expect_right_in_every_pair({2, 32, 3, 4}, 2, "f16");
  expect_right_in_every_pair({2, 18, 2, 5}, 3, "f16");
}

TEST_F(FloatShuffleTest, ATextureOfOneSliceMayBeFlat) {
  expect_right_in_every_pair({1, 4, 3, 5}, 2, "f32");
}

TEST_F(FloatShuffleTest, AgreesWithItsReferenceOnRandomPoints) {
  Draw draw(101);
  for (int round = 0; round < 60 && !HasFatalFailure(); ++round) {
    const std::int64_t r = draw.one_of<std::int64_t>({1, 2, 2, 3, 4, 7});
    const Shape shape{draw.pick(1, 3), draw.pick(1, 9) * r * r, draw.pick(1, 6), draw.pick(1, 9)};
    const Params params = shuffle_params(shape, r, draw.one_of<std::string>({"f32", "f16"}));
    Trial trial{.op = op, .params = params, .seed = static_cast<std::uint64_t>(round)};
    trial.forms = draw.forms(op->tensors(params));
    if (round % 2 == 0) trial.forms[1] = trial.forms[0] = draw.one_of<Form>({wp, cp, texture_cp});
    trial.fill = draw.one_of<FillKind>({FillKind::Normal, FillKind::Wide, FillKind::Outlier});
    if (round % 4 == 0) {
      trial.tune = {{"local_size", draw.one_of<std::int64_t>({1, 7, 128})}};
    }
    if (round % 3 == 0) trial.impl = "gather";
    expect_right(trial);
  }
}

TEST_F(FloatShuffleTest, RowsTakeAnyTunedGrid) {
  for (const std::string dtype : {"f32", "f16"}) {
    for (const std::int64_t vectors : {1, 2, 3, 4}) {
      expect_right({.op = op,
                    .params = shuffle_params({2, 12, 5, 12}, 2, dtype),
                    .forms = {wp, wp},
                    .tune = {{"local_size", 7}, {"vectors_per_invocation", vectors}}});
    }
  }
}

TEST_F(FloatShuffleTest, ManyRowsAreSeveralVectorsAnInvocation) {
  const Trial trial{.op = op, .params = shuffle_params({1, 8, 720, 730}, 2, "f32"), .forms = {wp, wp}};
  EXPECT_EQ(constant_of(program_of(trial).dispatches.front(), "vectors_per_invocation"), 4U);
  expect_right(trial);
}

TEST_F(FloatShuffleTest, TilesTakeEveryEvenFactor) {
  for (const Form y : {cp, texture_cp}) {
    for (const Form x : {cp, texture_cp}) {
      for (const std::int64_t factor : {2, 4, 6}) {
        const Params params = shuffle_params({2, 3 * factor * factor, 5, 7}, factor, "f32");
        expect_right({.op = op, .params = params, .forms = {x, y}});
      }
    }
  }
}

TEST_F(FloatShuffleTest, TilesOfHalvesTakeEveryEvenFactorAndAnyBox) {
  for (const Form y : {cp, texture_cp}) {
    for (const std::int64_t factor : {2, 4, 6}) {
      for (const std::map<std::string, std::int64_t>& tune :
           {std::map<std::string, std::int64_t>{}, {{"local_x", 3}, {"local_y", 1}, {"local_z", 2}}}) {
        const Params params = shuffle_params({2, 8 * factor * factor, 5, 7}, factor, "f16");
        expect_right({.op = op, .params = params, .forms = {texture_cp, y}, .tune = tune});
      }
    }
  }
}

TEST_F(FloatShuffleTest, TakesTheFastWaysWhereTheyExist) {
  EXPECT_EQ(shader_of({1, 8, 4, 6}, 2, "f32", wp, wp), "pixel_shuffle_rows.comp");
  EXPECT_EQ(shader_of({1, 8, 4, 5}, 2, "f32", wp, wp), "gather.comp");
  EXPECT_EQ(shader_of({1, 8, 4, 8}, 2, "f16", wp, wp), "pixel_shuffle_rows.comp");
  EXPECT_EQ(shader_of({1, 8, 4, 6}, 2, "f16", wp, wp), "gather.comp");
  EXPECT_EQ(shader_of({1, 8, 4, 5}, 2, "f32", cp, texture_cp), "pixel_shuffle_tiles.comp");
  EXPECT_EQ(shader_of({1, 8, 4, 5}, 2, "f16", cp, texture_cp), "pixel_shuffle_tiles.comp");
  EXPECT_EQ(shader_of({1, 8, 4, 5}, 2, "f16", texture_cp, cp),
            "gather.comp");  // 2 channels: pixels share words
  EXPECT_EQ(shader_of({1, 16, 4, 5}, 2, "f16", cp, cp), "gather.comp");
  EXPECT_EQ(shader_of({1, 16, 4, 5}, 2, "f32", cp, cp), "pixel_shuffle_tiles.comp");
  EXPECT_EQ(shader_of({1, 16, 4, 5}, 4, "f32", texture_cp, cp), "pixel_shuffle_tiles.comp");
  EXPECT_EQ(shader_of({1, 16, 4, 5}, 4, "f32", cp, cp), "gather.comp");
  EXPECT_EQ(shader_of({1, 9, 4, 5}, 3, "f32", texture_cp, cp), "gather.comp");
  EXPECT_EQ(shader_of({1, 8, 4, 6}, 2, "f32", wp, cp), "gather.comp");
  EXPECT_EQ(shader_of({1, 9, 4, 6}, 3, "f32", wp, wp), "gather.comp");
  EXPECT_EQ(shader_of({1, 9, 4, 6}, 1, "f32", wp, wp), "copy.comp");
}

TEST_F(FloatShuffleTest, RefusesChannelsThatTheFactorSquaredDoesNotDivide) {
  EXPECT_THROW(op->tensors(shuffle_params({1, 6, 4, 4}, 2, "f32")), ParameterError);
}

TEST_F(FloatShuffleTest, IsACopyOnlyWhereNothingMoves) {
  const auto declared = [&](const Shape& shape, std::int64_t r) {
    return !op->tensors(shuffle_params(shape, r, "f32")).back().copy_because.empty();
  };
  EXPECT_TRUE(declared({1, 4, 2, 3}, 1));
  EXPECT_TRUE(declared({2, 8, 1, 1}, 2));
  EXPECT_FALSE(declared({2, 8, 1, 2}, 2));
}

}  // namespace
}  // namespace assay::ops
