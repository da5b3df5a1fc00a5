#include "harness/base/error.h"
#include "ops/registry.h"
#include "tests/support/on_device.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

namespace assay::ops {
namespace {

using namespace test;

Params permute_params(const Shape& shape, const Shape& dims, const std::string& dtype) {
  Params params;
  params.set("shape", shape);
  params.set("dims", dims);
  params.set("dtype", dtype);
  return params;
}

Params view_params(const Shape& shape, const Shape& new_shape, const std::string& dtype) {
  Params params;
  params.set("shape", shape);
  params.set("new_shape", new_shape);
  params.set("dtype", dtype);
  return params;
}

/// The ops that put values in another order: permute and view.
class ReorderOpsTest : public OnDeviceTest {
 protected:
  void expect_right_in(const Op& op, const Params& params, Form x, Form y, std::uint64_t seed = 0) {
    const std::vector<TensorSpec> tensors = op.tensors(params);
    if (!can_hold(x, tensors[0]) || !can_hold(y, tensors[1])) return;
    expect_right({.op = &op, .params = params, .forms = {x, y}, .seed = seed});
  }

  /// A shape with as many elements as `shape`, in other dims.
  static Shape regrouped(const Shape& shape, Draw& draw) {
    Shape dims{1, 1, 1, 1};
    for (std::int64_t factor = 2, rest = numel(shape); rest > 1;) {
      if (rest % factor != 0) {
        ++factor;
        continue;
      }
      dims[static_cast<std::size_t>(draw.pick(0, 3))] *= factor;
      rest /= factor;
    }
    return dims;
  }

  Registry ops = registry();
  const Op& permute = *ops.find("permute");
  const Op& view = *ops.find("view");
};

TEST_F(ReorderOpsTest, PermuteIsRightForEveryPermutationOfFourOddDims) {
  Shape dims{0, 1, 2, 3};
  do {
    for (const std::string dtype : {"f32", "f16"}) {
      const Params params = permute_params({3, 5, 2, 7}, dims, dtype);
      expect_right_in(permute, params, {Storage::Buffer, Layout::WP}, {Storage::Buffer, Layout::WP});
    }
    expect_right_in(permute, permute_params({3, 5, 2, 7}, dims, "f32"), {Storage::Texture3D, Layout::CP},
                    {Storage::Texture3D, Layout::WP});
    expect_right_in(permute, permute_params({3, 5, 2, 7}, dims, "f16"), {Storage::Buffer, Layout::HP},
                    {Storage::Texture3D, Layout::HP});
  } while (std::next_permutation(dims.begin(), dims.end()));
}

TEST_F(ReorderOpsTest, PermuteIsRightInEveryPairOfForms) {
  const Params of_three = permute_params({3, 5, 6}, {2, 0, 1}, "f32");
  const Params of_two = permute_params({5, 7}, {1, 0}, "f16");
  const std::vector<Form> forms = permute.tensors(of_two)[0].forms;
  EXPECT_EQ(forms.size(), 9U);
  for (const Form x : forms) {
    for (const Form y : forms) {
      const bool flat = x.storage == Storage::Texture2D || y.storage == Storage::Texture2D;
      expect_right_in(permute, flat ? of_two : of_three, x, y);
    }
  }
}

TEST_F(ReorderOpsTest, PermuteAgreesWithItsReferenceOnRandomPoints) {
  Draw draw(71);
  for (int round = 0; round < 40 && !HasFatalFailure(); ++round) {
    const Shape shape = draw.shape(11);
    Shape dims(shape.size());
    std::iota(dims.begin(), dims.end(), 0);
    for (std::size_t i = dims.size(); i-- > 1;) {
      std::swap(dims[i], dims[static_cast<std::size_t>(draw.pick(0, static_cast<std::int64_t>(i)))]);
    }
    const Params params = permute_params(shape, dims, draw.one_of<std::string>({"f32", "f16"}));
    Trial trial{.op = &permute, .params = params, .seed = static_cast<std::uint64_t>(round)};
    trial.forms = draw.forms(permute.tensors(params));
    trial.fill = draw.one_of<FillKind>({FillKind::Normal, FillKind::Special});
    if (round % 4 == 0) trial.tune = {{"local_size", draw.one_of<std::int64_t>({1, 7, 1024})}};
    expect_right(trial);
  }
}

TEST_F(ReorderOpsTest, ViewAgreesWithItsReferenceOnRandomPoints) {
  Draw draw(72);
  for (int round = 0; round < 40 && !HasFatalFailure(); ++round) {
    const Shape shape = draw.shape(9);
    const Params params =
        view_params(shape, regrouped(shape, draw), draw.one_of<std::string>({"f32", "f16"}));
    Trial trial{.op = &view, .params = params, .seed = static_cast<std::uint64_t>(round)};
    trial.forms = draw.forms(view.tensors(params));
    trial.fill = draw.one_of<FillKind>({FillKind::Normal, FillKind::Special});
    if (round % 4 == 0) trial.tune = {{"local_size", draw.one_of<std::int64_t>({1, 7, 1024})}};
    expect_right(trial);
  }
}

TEST_F(ReorderOpsTest, ViewIsRightInEveryPairOfForms) {
  const Params of_three = view_params({3, 5, 6}, {2, 3, 15}, "f32");
  const Params of_two = view_params({6, 7}, {3, 14}, "f16");
  const std::vector<Form> forms = view.tensors(of_two)[0].forms;
  EXPECT_EQ(forms.size(), 9U);
  for (const Form x : forms) {
    for (const Form y : forms) {
      const bool flat = x.storage == Storage::Texture2D || y.storage == Storage::Texture2D;
      expect_right_in(view, flat ? of_two : of_three, x, y);
    }
  }
}

TEST_F(ReorderOpsTest, ViewBetweenRowMajorBuffersCopiesWords) {
  const Form row_major{Storage::Buffer, Layout::WP};
  for (const std::string dtype : {"f32", "f16"}) {
    for (const std::int64_t width : {1, 3, 8, 31, 1030}) {
      const Trial trial{
          .op = &view, .params = view_params({width, 3}, {3, width}, dtype), .forms = {row_major, row_major}};
      EXPECT_EQ(program_of(trial).dispatches.front().shader, "copy.comp");
      expect_right(trial);
    }
  }
}

TEST_F(ReorderOpsTest, RefuseParametersThatMakeNoSense) {
  const auto refused = [](const Op& op, const Params& params) -> std::string {
    try {
      op.tensors(params);
      return "";
    } catch (const ParameterError& error) {
      return error.parameter() + ": " + error.what();
    }
  };
  EXPECT_THAT(refused(view, view_params({3, 4}, {2, 5}, "f32")), testing::HasSubstr("new_shape: "));
  EXPECT_THAT(refused(view, view_params({3, 4}, {2, 5}, "f32")), testing::HasSubstr("10"));
  EXPECT_EQ(refused(view, view_params({3, 4}, {2, 6}, "f32")), "");
  for (const Shape& dims : {Shape{0}, Shape{0, 0}, Shape{0, 2}, Shape{-1, 0}, Shape{0, 1, 2}}) {
    EXPECT_THAT(refused(permute, permute_params({3, 4}, dims, "f32")), testing::HasSubstr("dims: "));
  }
  EXPECT_EQ(refused(permute, permute_params({3, 4}, {1, 0}, "f32")), "");
}

TEST_F(ReorderOpsTest, PermuteIsACopyOnlyWhereDimsOfSizeOneMove) {
  const auto declared = [&](const Shape& shape, const Shape& dims) {
    return !permute.tensors(permute_params(shape, dims, "f32")).back().copy_because.empty();
  };
  EXPECT_TRUE(declared({3, 4}, {0, 1}));
  EXPECT_TRUE(declared({3, 1, 4}, {1, 0, 2}));
  EXPECT_TRUE(declared({1, 3, 4}, {1, 2, 0}));
  EXPECT_FALSE(declared({3, 4}, {1, 0}));
  EXPECT_FALSE(declared({1, 3, 4}, {2, 0, 1}));
}

}  // namespace
}  // namespace assay::ops
