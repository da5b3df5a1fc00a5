#include "ops/relayout/reorder.h"

#include "harness/base/error.h"
#include "ops/registry.h"
#include "tests/support/on_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace assay::ops {
namespace {

using namespace test;
using testing::ElementsAre;

Dispatch permuted_buffers(const Shape& shape, const Shape& dims, DType dtype = DType::F32) {
  const Params params;
  const DeviceInfo device;
  return permute_buffers({params, {}, {}, device, {}}, "permute", Resource::tensor(0), Resource::tensor(1),
                         dtype, shape, dims);
}

/// The pairs of size and step in x of the remaining dims, fastest first.
std::vector<std::pair<std::uint32_t, std::uint32_t>> dims_left(const Dispatch& dispatch) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> dims;
  const std::vector<std::uint32_t>& words = dispatch.push.words();
  for (std::uint32_t i = 0; i < constant_of(dispatch, "dim_count"); ++i) {
    dims.emplace_back(words[1 + 4 * i], words[4 + 4 * i]);
  }
  return dims;
}

/// The constants that say which dims of y N, C, H, W of x are.
std::vector<std::uint32_t> sources(const Shape& shape, const Shape& dims) {
  const Params params;
  const DeviceInfo device;
  const Form texture{Storage::Texture3D, Layout::WP};
  Shape y_shape;
  for (const std::int64_t dim : dims) y_shape.push_back(shape[static_cast<std::size_t>(dim)]);
  const Dispatch dispatch = permute_dispatch({params, {}, {}, device, {}}, "permute",
                                             {Resource::tensor(0), {texture, DType::F32, shape}},
                                             {Resource::tensor(1), {texture, DType::F32, y_shape}}, dims);
  EXPECT_EQ(dispatch.shader, "gather.comp");
  return {constant_of(dispatch, "n_from"), constant_of(dispatch, "c_from"), constant_of(dispatch, "h_from"),
          constant_of(dispatch, "w_from")};
}

using Dim = std::pair<std::uint32_t, std::uint32_t>;

TEST(PermuteBuffers, MergesDimsThatStayNeighbours) {
  EXPECT_THAT(dims_left(permuted_buffers({2, 3, 5, 7}, {0, 1, 2, 3})), ElementsAre(Dim{210, 1}));
  EXPECT_THAT(dims_left(permuted_buffers({2, 3, 5, 7}, {2, 3, 0, 1})), ElementsAre(Dim{6, 35}, Dim{35, 1}));
  EXPECT_THAT(dims_left(permuted_buffers({2, 3, 5, 7}, {3, 2, 1, 0})),
              ElementsAre(Dim{2, 105}, Dim{3, 35}, Dim{5, 7}, Dim{7, 1}));
}

TEST(PermuteBuffers, LeavesDimsOfSizeOneOut) {
  EXPECT_THAT(dims_left(permuted_buffers({4, 1, 6}, {1, 0, 2})), ElementsAre(Dim{24, 1}));
  EXPECT_THAT(dims_left(permuted_buffers({1, 1}, {1, 0})), ElementsAre(Dim{1, 1}));
}

TEST(PermuteBuffers, TakesFiveDimsAndRefusesSix) {
  EXPECT_EQ(dims_left(permuted_buffers({2, 3, 2, 3, 2}, {4, 3, 2, 1, 0})).size(), 5U);
  EXPECT_EQ(dims_left(permuted_buffers({2, 3, 2, 3, 2, 1}, {5, 4, 3, 2, 1, 0})).size(), 5U);
  EXPECT_THROW(permuted_buffers({2, 3, 2, 3, 2, 3}, {5, 4, 3, 2, 1, 0}), std::logic_error);
}

TEST(PermuteBuffers, SaysWhetherElementsAreHalves) {
  EXPECT_THAT(permuted_buffers({2, 3}, {1, 0}).defines, ElementsAre(Define{"HALVES", "0"}));
  EXPECT_THAT(permuted_buffers({2, 3}, {1, 0}, DType::F16).defines, ElementsAre(Define{"HALVES", "1"}));
}

TEST(PermuteDispatch, SaysWhichDimOfYEachDimOfXIs) {
  EXPECT_THAT(sources({2, 3, 5, 7}, {0, 1, 2, 3}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(sources({2, 3, 5, 7}, {1, 2, 3, 0}), ElementsAre(3, 0, 1, 2));
  EXPECT_THAT(sources({5, 7}, {1, 0}), ElementsAre(0, 1, 3, 2));  // unsqueezed on the left
}

/// The dispatch that moves a tensor of `shape` from one form to the other.
Dispatch moved(const Shape& shape, Form x, Form y, DType dtype = DType::F32) {
  const Params params;
  const DeviceInfo device;
  return move_dispatch({params, {}, {}, device, {}}, "move", {Resource::tensor(0), {x, dtype, shape}},
                       {Resource::tensor(1), {y, dtype, shape}});
}

/// The kernel that could write them is not asked where they cannot be counted.
TEST(MoveDispatch, IntegersAreNotGathered) {
  const Params params;
  const DeviceInfo device;
  const Shape shape{1, 1, 1 << 15, 1 << 14};
  const TensorAt x{Resource::tensor(0), {{Storage::Buffer, Layout::CP}, DType::F32, shape}};
  const TensorAt y{Resource::tensor(1), {{Storage::Buffer, Layout::P4C}, DType::I8, shape}};
  EXPECT_THROW((void)move_dispatch({params, {}, {}, device, {}}, "quantize", x, y), std::logic_error);
}

std::string reorder_define(const Dispatch& dispatch, const std::string& name) {
  for (const Define& test_case : dispatch.defines) {
    if (test_case.name == name) return test_case.value;
  }
  return "none";
}

constexpr Form wp{Storage::Buffer, Layout::WP};
constexpr Form hp{Storage::Buffer, Layout::HP};
constexpr Form cp{Storage::Buffer, Layout::CP};
constexpr Form texture_cp{Storage::Texture3D, Layout::CP};

TEST(MoveDispatch, IsACopyWhereTheOrderInMemoryStays) {
  for (const Form form : {wp, hp, cp}) EXPECT_EQ(moved({2, 3, 5, 7}, form, form).shader, "copy.comp");
  EXPECT_EQ(moved({144}, wp, cp).shader, "copy.comp");
  EXPECT_EQ(moved({6, 1, 7}, wp, hp).shader, "copy.comp");  // one row: W and H need not be distinguished
  EXPECT_EQ(moved({6, 2, 7}, wp, hp).shader, "relayout.comp");
  EXPECT_EQ(moved({2, 1, 5, 7}, wp, cp).shader, "copy.comp");
  EXPECT_EQ(moved({2, 2, 1, 7}, wp, cp).shader, "relayout.comp");
  EXPECT_EQ(moved({2, 3, 5, 7}, texture_cp, texture_cp).shader, "relayout.comp");
}

TEST(MoveDispatch, LooksUpHalvesWhoseRowsShareWords) {
  EXPECT_EQ(moved({2, 3, 5, 7}, wp, cp, DType::F16).shader, "gather.comp");
  EXPECT_EQ(moved({2, 4, 5, 7}, wp, cp, DType::F16).shader, "relayout.comp");
  EXPECT_EQ(moved({2, 3, 5, 7}, wp, texture_cp, DType::F16).shader, "relayout.comp");
}

TEST(ShuffleDispatch, WritesVectorsWhereRowsOfYAreMultiplesOfFour) {
  const auto y_whole = [](const Shape& y_shape, Form y) {
    const Params params;
    const DeviceInfo device;
    const Shape x_shape{y_shape[0], y_shape[1] * 9, y_shape[2] / 3, y_shape[3] / 3};
    const Dispatch dispatch = shuffle_dispatch({params, {}, {}, device, {}}, "shuffle",
                                               {Resource::tensor(0), {wp, DType::F32, x_shape}},
                                               {Resource::tensor(1), {y, DType::F32, y_shape}}, 3);
    EXPECT_EQ(constant_of(dispatch, "upscale"), 3U);
    EXPECT_EQ(reorder_define(dispatch, "MAP"), "MAP_SHUFFLE");
    return reorder_define(dispatch, "Y_WHOLE");
  };
  EXPECT_EQ(y_whole({1, 5, 3, 12}, wp), "1");
  EXPECT_EQ(y_whole({1, 4, 12, 3}, wp), "0");
  EXPECT_EQ(y_whole({1, 5, 12, 3}, hp), "1");
  EXPECT_EQ(y_whole({1, 4, 3, 3}, cp), "1");
  EXPECT_EQ(y_whole({1, 5, 12, 12}, cp), "0");
  EXPECT_EQ(y_whole({1, 4, 12, 12}, texture_cp), "0");  // texels are whole as they are
}

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
