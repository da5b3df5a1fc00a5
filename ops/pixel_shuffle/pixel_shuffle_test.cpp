#include "harness/base/error.h"
#include "ops/registry.h"
#include "tests/support/on_device.h"

#include <random>

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

constexpr Form p4w4c{Storage::Buffer, Layout::P4W4C};
constexpr Form p4c1w{Storage::Buffer, Layout::P4C1W};

Params shuffle_params(const Shape& shape, std::int64_t r, QParams x, QParams y) {
  Params params;
  params.set("shape", shape);
  params.set("upscale_factor", r);
  params.set("x", x);
  params.set("y", y);
  return params;
}

class PixelShuffleOpTest : public OnDeviceTest {
 protected:
  Registry ops = registry();
  const Op* op = ops.find("q8ta_pixel_shuffle");
};

TEST_F(PixelShuffleOpTest, AgreesWithItsReferenceOnRandomShapesFactorsAndLayouts) {
  std::mt19937 random(41);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  std::uniform_real_distribution<float> scale(0.003f, 0.2f);
  const auto qparams = [&] { return QParams{scale(random), static_cast<std::int32_t>(pick(-128, 127))}; };
  for (int round = 0; round < 96 && !HasFatalFailure(); ++round) {
    const std::int64_t r = round % 4 + 1;
    const Shape shape{pick(1, 3), pick(1, 9) * r * r, pick(1, 5), pick(1, 10)};
    const QParams x = qparams();
    const QParams y = round / 4 % 2 == 0 ? x : qparams();
    const std::vector<Form> forms{round / 8 % 2 == 0 ? p4w4c : p4c1w, round / 16 % 2 == 0 ? p4w4c : p4c1w};
    expect_right({.op = op,
                  .params = shuffle_params(shape, r, x, y),
                  .forms = forms,
                  .fill = round % 3 == 0 ? FillKind::Saturate : FillKind::Uniform,
                  .seed = static_cast<std::uint64_t>(round)});
  }
}

TEST_F(PixelShuffleOpTest, AgreesWithItsReferenceOnTheNetShapesInEveryPairOfLayouts) {
  for (const Shape& shape :
       {Shape{1, 16, 4, 4}, Shape{1, 24, 8, 4}, Shape{1, 32, 12, 8}, Shape{1, 96, 16, 9}}) {
    for (const Form x : {p4w4c, p4c1w}) {
      for (const Form y : {p4w4c, p4c1w}) {
        const QParams same{0.007112f, 0};
        expect_right({.op = op, .params = shuffle_params(shape, 2, same, same), .forms = {x, y}});
        expect_right({.op = op, .params = shuffle_params(shape, 2, same, {0.013f, 5}), .forms = {x, y}});
      }
    }
  }
}

TEST_F(PixelShuffleOpTest, UnfusedGivesTheIntegersOfTheReferenceAndSoOfFused) {
  Draw draw(42);
  for (int round = 0; round < 24 && !HasFatalFailure(); ++round) {
    const std::int64_t r = round % 4 + 1;
    const Shape shape{draw.pick(1, 3), draw.pick(1, 9) * r * r, draw.pick(1, 5), draw.pick(1, 10)};
    const QParams x = draw.qparams();
    Trial trial{.op = op,
                .params = shuffle_params(shape, r, x, round % 3 == 0 ? x : draw.qparams()),
                .forms = {draw.one_of<Form>({p4w4c, p4c1w}), draw.one_of<Form>({p4w4c, p4c1w})},
                .fill = FillKind::Uniform,
                .seed = static_cast<std::uint64_t>(round),
                .impl = "unfused"};
    if (round % 4 == 0) trial.tune = {{"local_size", draw.one_of<std::int64_t>({1, 7, 1024})}};
    expect_right(trial);
  }
}

TEST_F(PixelShuffleOpTest, EverySplitGivesTheSameAnswer) {
  const QParams x{0.02F, 7};
  for (const std::int64_t split : {1, 2, 3, 4, 16}) {
    for (const Shape& shape : {Shape{2, 20, 3, 5}, Shape{1, 36, 2, 4}, Shape{3, 4, 1, 2}}) {
      for (const Form from : {p4w4c, p4c1w}) {
        for (const Form to : {p4w4c, p4c1w}) {
          Trial trial{.op = op,
                      .params = shuffle_params(shape, 2, x, shape[0] == 1 ? x : QParams{0.03F, -9}),
                      .forms = {from, to},
                      .fill = FillKind::Uniform,
                      .tune = {{"split", split}}};
          const Dispatch dispatch = program_of(trial).dispatches.front();
          EXPECT_EQ(constant_of(dispatch, "split"), split == 3 ? 2 : split);
          expect_right(trial);
        }
      }
    }
  }
}

TEST_F(PixelShuffleOpTest, ALargeTensorIsNotSplit) {
  const Params params = shuffle_params({1, 64, 64, 72}, 2, {0.02F, 7}, {0.03F, -9});
  for (const Form form : {p4w4c, p4c1w}) {
    const Trial trial{.op = op, .params = params, .forms = {form, form}, .fill = FillKind::Uniform};
    EXPECT_EQ(constant_of(program_of(trial).dispatches.front(), "split"), 1U);
    expect_right(trial);
  }
}

TEST_F(PixelShuffleOpTest, RefusesChannelsThatTheFactorSquaredDoesNotDivide) {
  EXPECT_THROW(op->tensors(shuffle_params({1, 6, 4, 4}, 2, {}, {})), ParameterError);
}

TEST_F(PixelShuffleOpTest, IsACopyOnlyWhereNothingMovesAndNothingIsRequantized) {
  const auto declared = [&](const Shape& shape, std::int64_t r, QParams y) {
    return !op->tensors(shuffle_params(shape, r, {0.5f, 1}, y)).back().copy_because.empty();
  };
  EXPECT_TRUE(declared({1, 4, 2, 3}, 1, {0.5f, 1}));
  EXPECT_TRUE(declared({2, 8, 1, 1}, 2, {0.5f, 1}));
  EXPECT_FALSE(declared({1, 4, 2, 3}, 1, {0.5f, 2}));
  EXPECT_FALSE(declared({2, 8, 1, 2}, 2, {0.5f, 1}));
}

TEST_F(PixelShuffleOpTest, CountsOperationsOnlyWhenItRequantizes) {
  const auto work = [&](QParams y) {
    const Params params = shuffle_params({1, 16, 4, 4}, 2, {0.5f, 1}, y);
    return op->work(params, op->tensors(params));
  };
  EXPECT_EQ(work({0.5f, 1}).operations, 0);
  EXPECT_EQ(work({0.25f, 1}).operations, 4 * 256);
  EXPECT_EQ(work({0.5f, 1}).bytes_read, 256);
  EXPECT_EQ(work({0.5f, 1}).bytes_written, 256);
}

TEST_F(PixelShuffleOpTest, ExcludesScalesWhoseStepsFloat32CannotHold) {
  const auto reason = [&](float x, float y) {
    const Params params = shuffle_params({1, 4, 2, 2}, 2, {x, 0}, {y, 0});
    const std::vector<TensorSpec> tensors = op->tensors(params);
    const std::vector<Form> forms{p4w4c, p4w4c};
    return op->impls.front().invalid_reason(ImplPoint{params, tensors, forms, {}});
  };
  EXPECT_EQ(reason(0.5f, 0.25f), std::nullopt);
  EXPECT_NE(reason(3e38f, 0.25f), std::nullopt);
  EXPECT_NE(reason(0.5f, 3e38f), std::nullopt);
  EXPECT_NE(reason(0.5f, 1e-39f), std::nullopt);
  EXPECT_NE(reason(1e-39f, 1e-38f), std::nullopt) << "devices may flush both to zero";
}

}  // namespace

}  // namespace assay::ops
