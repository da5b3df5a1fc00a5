#include "ops/elementwise/q8ta_add.h"

#include "harness/base/error.h"
#include "ops/registry.h"
#include "tests/support/on_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace assay::ops {
namespace {

using testing::ElementsAre;
using namespace test;
using testing::HasSubstr;

constexpr Layout layouts[] = {Layout::P4W, Layout::P4C, Layout::P4C1W, Layout::P4W4C, Layout::P4H4W};

Physical bytes(const Shape& shape, Layout layout) {
  return {{Storage::Buffer, layout}, DType::I8, shape};
}

Shape broadcast_shape(const Shape& a, const Shape& b) {
  Shape y;
  for (std::size_t i = 0; i < a.size(); ++i) y.push_back(std::max(a[i], b[i]));
  return y;
}

std::vector<BroadcastAxis> axes_of(const Shape& a, const Shape& b, Layout layout) {
  return broadcast_axes(bytes(a, layout), bytes(b, layout), bytes(broadcast_shape(a, b), layout));
}

/// The words of a and b that the axes give for a word of y, computed like the kernel.
std::pair<std::int64_t, std::int64_t> words_at(const std::vector<BroadcastAxis>& axes, std::int64_t word) {
  std::int64_t a = 0, b = 0;
  for (const BroadcastAxis& axis : axes) {
    a += word % axis.size * axis.a_step;
    b += word % axis.size * axis.b_step;
    word /= axis.size;
  }
  EXPECT_EQ(word, 0);
  return {a, b};
}

std::int64_t source(const Physical& operand, const std::vector<std::int64_t>& at) {
  const Dims& dims = operand.dims();
  const auto index = [](std::int64_t i, std::int64_t size) { return size == 1 ? 0 : i; };
  return operand.offset(index(at[0], dims.n), index(at[1], dims.c), index(at[2], dims.h),
                        index(at[3], dims.w));
}

/// Checks that every element of y finds its a and b: in its own lane, or in lane 0 of a spread word.
void expect_right_words(const Shape& a_shape, const Shape& b_shape, Layout layout) {
  const Shape y_shape = broadcast_shape(a_shape, b_shape);
  const Physical a = bytes(a_shape, layout), b = bytes(b_shape, layout), y = bytes(y_shape, layout);
  const std::vector<BroadcastAxis> axes = broadcast_axes(a, b, y);
  ASSERT_LE(axes.size(), 5U);
  std::int64_t words = 1;
  for (const BroadcastAxis& axis : axes) words *= axis.size;
  ASSERT_EQ(words, y.elements() / 4);
  for (std::int64_t i = 0; i < numel(y_shape); ++i) {
    const std::vector<std::int64_t> at = coordinates(y_shape, i);
    const std::int64_t place = y.offset(at[0], at[1], at[2], at[3]);
    const auto [a_word, b_word] = words_at(axes, place / 4);
    ASSERT_EQ(4 * a_word + (spreads(a, y) ? 0 : place % 4), source(a, at)) << to_string(a_shape);
    ASSERT_EQ(4 * b_word + (spreads(b, y) ? 0 : place % 4), source(b, at)) << to_string(b_shape);
  }
}

TEST(BroadcastAxes, FindEveryWordWhateverIsBroadcast) {
  std::mt19937 random(17);
  const auto pick = [&](int most) { return std::uniform_int_distribution<std::int64_t>(1, most)(random); };
  for (int round = 0; round < 400 && !testing::Test::HasFatalFailure(); ++round) {
    Shape a, b;
    for (int dim = 0; dim < 4; ++dim) {
      const std::int64_t size = pick(9);
      const std::int64_t kind = pick(3);
      a.push_back(kind == 1 ? 1 : size);
      b.push_back(kind == 2 ? 1 : size);
    }
    for (const Layout layout : layouts) expect_right_words(a, b, layout);
  }
}

/// Checks what the kernel relies on when it loads four words at once.
TEST(BroadcastAxes, StepWordByWordOrNotAtAllAlongTheFastestAndInVectorsBeyond) {
  std::mt19937 random(18);
  const auto pick = [&](int most) { return std::uniform_int_distribution<std::int64_t>(1, most)(random); };
  for (int round = 0; round < 400; ++round) {
    Shape a, b;
    for (int dim = 0; dim < 4; ++dim) {
      const std::int64_t size = pick(2) == 1 ? 16 : pick(9);
      const std::int64_t kind = pick(3);
      a.push_back(kind == 1 ? 1 : size);
      b.push_back(kind == 2 ? 1 : size);
    }
    for (const Layout layout : layouts) {
      const std::vector<BroadcastAxis> axes = axes_of(a, b, layout);
      ASSERT_TRUE(axes[0].a_step == 0 || axes[0].a_step == 1);
      ASSERT_TRUE(axes[0].b_step == 0 || axes[0].b_step == 1);
      if (axes[0].size % 4 != 0) continue;
      for (std::size_t i = 1; i < axes.size(); ++i) {
        ASSERT_TRUE(axes[0].a_step == 0 || axes[i].a_step % 4 == 0);
        ASSERT_TRUE(axes[0].b_step == 0 || axes[i].b_step % 4 == 0);
      }
    }
  }
}

TEST(BroadcastAxes, AreOneWhereNothingIsBroadcast) {
  for (const Layout layout : layouts) {
    const Physical y = bytes({2, 5, 6, 7}, layout);
    EXPECT_THAT(broadcast_axes(y, y, y), ElementsAre(BroadcastAxis{y.elements() / 4, 1, 1}));
  }
  EXPECT_THAT(axes_of({1, 1, 1, 1}, {1, 1, 1, 1}, Layout::P4C), ElementsAre(BroadcastAxis{1, 1, 1}));
}

TEST(BroadcastAxes, MergeWhatAnOperandPerChannelNeedNotTellApart) {
  // 4W: rows and words of a channel; its channels.
  EXPECT_THAT(axes_of({1, 6, 5, 8}, {1, 6, 1, 1}, Layout::P4W),
              ElementsAre(BroadcastAxis{10, 1, 0}, BroadcastAxis{6, 10, 1}));
  // 4C: blocks of channels; all pixels.
  EXPECT_THAT(axes_of({2, 8, 5, 8}, {1, 8, 1, 1}, Layout::P4C),
              ElementsAre(BroadcastAxis{2, 1, 1}, BroadcastAxis{80, 2, 0}));
}

TEST(Spreads, WhereThePackedDimIsBroadcast) {
  EXPECT_TRUE(spreads(bytes({1, 6, 1, 1}, Layout::P4W), bytes({1, 6, 5, 8}, Layout::P4W)));
  EXPECT_FALSE(spreads(bytes({1, 6, 1, 1}, Layout::P4C), bytes({1, 6, 5, 8}, Layout::P4C)));
  EXPECT_TRUE(spreads(bytes({1, 1, 5, 8}, Layout::P4W4C), bytes({1, 6, 5, 8}, Layout::P4W4C)));
  EXPECT_FALSE(spreads(bytes({1, 6, 1, 1}, Layout::P4W), bytes({1, 6, 5, 1}, Layout::P4W)));
}

const std::vector<FillKind> fills{FillKind::Normal, FillKind::Uniform, FillKind::Saturate, FillKind::Outlier};

struct AddScales {
  QParams a{0.05F, -7}, b{0.03F, 11}, y{0.021F, 20};
};

Params add_params(const Shape& shape, const Shape& b_shape, double alpha, const AddScales& scales = {}) {
  Params params;
  params.set("shape", shape);
  params.set("b_shape", b_shape);
  params.set("alpha", alpha);
  params.set("activation", std::string("none"));
  params.set("a", scales.a);
  params.set("b", scales.b);
  params.set("y", scales.y);
  return params;
}

class AddOpTest : public OnDeviceTest {
 protected:
  void expect_right_in_every_layout(const Shape& shape, const Shape& b_shape,
                                    const std::map<std::string, std::int64_t>& tune = {}) {
    const Params params = add_params(shape, b_shape, -1.25);
    const std::vector<Form> forms = op->tensors(params).front().forms;
    for (const Form form : forms) {
      expect_right(
          {.op = op, .params = params, .forms = {form, form, form}, .fill = FillKind::Uniform, .tune = tune});
    }
  }

  Dispatch dispatch_of(const Shape& shape, const Shape& b_shape, Layout layout) {
    const Form form{Storage::Buffer, layout};
    return program_of({.op = op, .params = add_params(shape, b_shape, 1), .forms = {form, form, form}})
        .dispatches.front();
  }

  /// Whether y, a and b are moved by vectors: "110" where b's words are looked up one by one.
  std::string whole(const Shape& shape, const Shape& b_shape, Layout layout) {
    const Dispatch dispatch = dispatch_of(shape, b_shape, layout);
    return dispatch.defines[0].value + dispatch.defines[1].value + dispatch.defines[2].value;
  }

  std::optional<std::string> reason(const Params& params, const std::vector<Form>& forms) {
    return op->impls.front().invalid_reason(ImplPoint{params, op->tensors(params), forms, {}});
  }

  Registry ops = registry();
  const Op* op = ops.find("q8ta_add");
  const Form p4c{Storage::Buffer, Layout::P4C};
  const Form p4w{Storage::Buffer, Layout::P4W};
};

TEST_F(AddOpTest, AddsTailsOfEveryAxisAndBatches) {
  expect_right_in_every_layout({2, 5, 3, 7}, {2, 5, 3, 7});
  expect_right_in_every_layout({90}, {90});
}

TEST_F(AddOpTest, BroadcastsEitherSideAlongEveryAxis) {
  for (const Shape& b : {Shape{5, 1, 1}, {7}, {3, 1}, {1}, {1, 5, 3, 7}, {2, 1, 3, 1}, {2, 1, 1, 1}}) {
    expect_right_in_every_layout({2, 5, 3, 7}, b);
    expect_right_in_every_layout(b, {2, 5, 3, 7});
  }
  expect_right_in_every_layout({2, 1, 3, 1}, {1, 5, 1, 7});
  expect_right_in_every_layout({5, 1, 7}, {2, 1, 3, 1});
}

TEST_F(AddOpTest, BroadcastsWholeVectors) {
  for (const Shape& b : {Shape{8, 1, 1}, {16}, {4, 1}, {1}, {1, 8, 4, 16}}) {
    expect_right_in_every_layout({2, 8, 4, 16}, b);
    expect_right_in_every_layout({2, 8, 4, 16}, b, {{"vectors_per_invocation", 3}, {"local_size", 7}});
  }
}

TEST_F(AddOpTest, NeedsNoMoreAxesThanItsKernelHas) {
  std::set<std::uint32_t> counts;
  for (unsigned broadcast = 0; broadcast < 81; ++broadcast) {  // along each dim a, b or neither is broadcast
    for (const std::int64_t size : {3, 8}) {
      Shape a{size, size, size, size}, b = a;
      for (unsigned dim = 0, rest = broadcast; dim < 4; ++dim, rest /= 3) {
        if (rest % 3 == 1) a[dim] = 1;
        if (rest % 3 == 2) b[dim] = 1;
      }
      const std::vector<Form> forms = op->tensors(add_params(a, b, 1)).front().forms;
      for (const Form form : forms) {
        counts.insert(constant_of(dispatch_of(a, b, form.layout), "axis_count"));
      }
    }
  }
  EXPECT_THAT(counts, ElementsAre(1, 2, 3, 4));
}

TEST_F(AddOpTest, AgreesWithItsReferenceOnRandomPoints) {
  Draw draw(91);
  for (int round = 0; round < 80 && !HasFatalFailure(); ++round) {
    const Shape y = draw.shape(11);
    Shape a = y, b = y;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::int64_t kind = draw.pick(0, 4);
      if (kind == 0) a[i] = 1;
      if (kind == 1) b[i] = 1;
    }
    const Params params = add_params(a, b, draw.one_of<double>({1, 0.5, -1.25, 0, 3}),
                                     {draw.qparams(), draw.qparams(), draw.qparams()});
    Trial trial{.op = op, .params = params, .seed = static_cast<std::uint64_t>(round)};
    trial.forms.assign(3, draw.one_of(op->tensors(params).front().forms));
    trial.fill = draw.one_of(fills);
    if (round % 3 == 0) {
      trial.tune = {{"local_size", draw.one_of<std::int64_t>({1, 7, 128})},
                    {"vectors_per_invocation", draw.pick(1, 4)}};
    }
    expect_right(trial);
  }
}

TEST_F(AddOpTest, AllowsExtremeScales) {
  for (const float a : {0x1p-100F, 0x1p100F}) {
    for (const float b : {0x1p-100F, 1.0F, 0x1p100F}) {
      for (const double alpha : {0x1p-126, 1.0, -0x1p100}) {
        const AddScales scales{{a, 3}, {b, -5}, {a, 7}};
        expect_right({.op = op,
                      .params = add_params({3, 6, 5}, {3, 6, 5}, alpha, scales),
                      .forms = {p4c, p4c, p4c},
                      .fill = FillKind::Uniform});
      }
    }
  }
}

TEST_F(AddOpTest, MovesVectorsWhereTheFastestAxisHasWholeOnes) {
  using enum Layout;
  EXPECT_EQ(whole({2, 8, 4, 16}, {2, 8, 4, 16}, P4W), "111");
  EXPECT_EQ(whole({15, 4}, {15, 4}, P4W), "000");
  // 4 words along the width, all with one b; 16 pixels times two blocks of channels.
  EXPECT_EQ(whole({2, 8, 4, 16}, {8, 1, 1}, P4W), "110");
  EXPECT_EQ(whole({2, 8, 4, 16}, {8, 1, 1}, P4W4C), "110");
  EXPECT_EQ(whole({2, 16, 4, 16}, {16, 1, 1}, P4C), "111");
  EXPECT_EQ(whole({2, 8, 4, 16}, {8, 1, 1}, P4C), "000");
  EXPECT_EQ(whole({8, 1, 1}, {2, 8, 4, 16}, P4W), "101");
}

TEST_F(AddOpTest, LargeTensorsAreSeveralVectorsAnInvocation) {
  const Shape shape{16, 256, 1030};  // rows of 258 words: no whole vectors, since rows stay separate
  for (const Shape& b : {Shape{256, 1}, Shape{1030}}) {
    const Trial trial{
        .op = op, .params = add_params(shape, b, 0.5), .forms = {p4w, p4w, p4w}, .fill = FillKind::Uniform};
    EXPECT_EQ(constant_of(program_of(trial).dispatches.front(), "vectors_per_invocation"), 4U);
    expect_right(trial);
  }
}

TEST_F(AddOpTest, RefusesShapesThatDoNotBroadcast) {
  try {
    op->tensors(add_params({2, 3, 4}, {3, 1, 4}, 1));
    FAIL() << "accepted";
  } catch (const ParameterError& error) {
    EXPECT_EQ(error.parameter(), "b_shape");
  }
}

TEST_F(AddOpTest, TakesTheShapeOfAForBUnlessToldOtherwise) {
  Params params;
  params.set("shape", Shape{2, 3});
  for (const char* name : {"a", "b", "y"}) params.set(name, QParams{});
  params = with_defaults(*op, params);
  EXPECT_EQ(params.ints("b_shape"), (Shape{2, 3}));
  EXPECT_EQ(params.number("alpha"), 1);
}

TEST_F(AddOpTest, IsACopyOnlyWithoutBAndWithoutRequantization) {
  const QParams same{0.5F, 1};
  const auto declared = [&](const Shape& shape, double alpha, QParams y) {
    return !op->tensors(add_params(shape, {2, 3}, alpha, {same, {0.1F, 0}, y})).back().copy_because.empty();
  };
  EXPECT_TRUE(declared({2, 3}, 0, same));
  EXPECT_FALSE(declared({2, 3}, 1, same));
  EXPECT_FALSE(declared({2, 3}, 0, {0.5F, 2}));
  EXPECT_FALSE(declared({1, 3}, 0, same));
}

TEST_F(AddOpTest, ExcludesLayoutsThatDifferAndNumbersThatADeviceMayFlush) {
  const Params params = add_params({2, 3}, {2, 3}, 1);
  EXPECT_EQ(reason(params, {p4c, p4c, p4c}), std::nullopt);
  EXPECT_THAT(reason(params, {p4c, p4w, p4c}).value_or(""), HasSubstr("b is buffer/4W"));
  EXPECT_THAT(reason(params, {p4c, p4c, p4w}).value_or(""), HasSubstr("y is buffer/4W"));
  EXPECT_THAT(reason(add_params({2, 3}, {2, 3}, 1e-40), {p4c, p4c, p4c}).value_or(""), HasSubstr("alpha"));
  EXPECT_THAT(
      reason(add_params({2, 3}, {2, 3}, 1, {{1, 0}, {1e-40F, 0}, {1, 0}}), {p4c, p4c, p4c}).value_or(""),
      HasSubstr("b is"));
}

TEST_F(AddOpTest, CountsEachInputOnceAndEightOperationsAnElement) {
  const Params params = add_params({2, 8, 4, 16}, {8, 1, 1}, 1);
  const Work work = op->work(params, op->tensors(params));
  EXPECT_EQ(work.bytes_read, 1024 + 8);
  EXPECT_EQ(work.bytes_written, 1024);
  EXPECT_EQ(work.operations, 8 * 1024);
}

}  // namespace

}  // namespace assay::ops
