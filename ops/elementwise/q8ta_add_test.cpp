#include "harness/base/error.h"
#include "ops/registry.h"
#include "tests/support/on_device.h"

#include <gmock/gmock.h>

#include <set>

namespace assay::ops {
namespace {

using namespace test;

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<FillKind> fills{FillKind::Normal, FillKind::Uniform, FillKind::Saturate, FillKind::Outlier};

struct AddScales {
  QParams a{0.05F, -7}, b{0.03F, 11}, y{0.021F, 20};
};

Params add_params(const Shape& shape, const Shape& b_shape, double alpha, const AddScales& scales = {}) {
  Params params;
  params.set("shape", shape);
  params.set("b_shape", b_shape);
  params.set("alpha", alpha);
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
