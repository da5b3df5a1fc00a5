#include "ops/relayout/reorder.h"

#include "tests/support/on_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace assay::ops
