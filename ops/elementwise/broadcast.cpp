#include "ops/elementwise/broadcast.h"

#include "ops/common/tensor_at.h"

#include <algorithm>
#include <array>
#include <utility>

namespace assay::ops {
namespace {

using Sizes = std::array<std::int64_t, 4>;  // N, C, H, W

Sizes sizes_of(const Physical& physical) {
  const Dims& dims = physical.dims();
  return {dims.n, dims.c, dims.h, dims.w};
}

/// The dim of N, C, H, W along which the four values of a word lie.
std::size_t packed_dim(const Physical& physical) {
  return info_of(physical.form().layout).packed_dim();
}

/// The strides of one operand along a dim of y: all 0 where it is broadcast.
Physical::Stride stride_along(const Physical& operand, const Physical& y, std::size_t dim) {
  if (sizes_of(operand)[dim] != sizes_of(y)[dim]) return {0, 0};
  return kernel_strides(operand)[dim];
}

/// An axis with its stride in y, by which axes are sorted.
using Placed = std::pair<std::int64_t, BroadcastAxis>;

std::vector<Placed> axes_of_dim(const Physical& a, const Physical& b, const Physical& y, std::size_t dim) {
  const std::int64_t size = sizes_of(y)[dim];
  const Physical::Stride in_y = kernel_strides(y)[dim];
  const Physical::Stride in_a = stride_along(a, y, dim);
  const Physical::Stride in_b = stride_along(b, y, dim);
  const Placed blocks{in_y.block, {div_up(size, 4), in_a.block, in_b.block}};
  if (dim == packed_dim(y)) return {blocks};
  if (info_of(y.form().layout).word_block_dim() == dim)
    return {blocks, {in_y.lane, {4, in_a.lane, in_b.lane}}};
  return {{in_y.lane, {size, in_a.lane, in_b.lane}}};
}

/// Makes `fast` the product of both axes, if both operands continue from one to the other.
bool merge(BroadcastAxis& fast, const BroadcastAxis& slow) {
  if (slow.a_step != fast.a_step * fast.size || slow.b_step != fast.b_step * fast.size) return false;
  fast.size *= slow.size;
  return true;
}

}  // namespace

std::vector<BroadcastAxis> broadcast_axes(const Physical& a, const Physical& b, const Physical& y) {
  std::vector<Placed> placed;
  for (std::size_t dim = 0; dim < 4; ++dim) {
    for (const Placed& test_case : axes_of_dim(a, b, y, dim)) {
      if (test_case.second.size > 1) placed.push_back(test_case);
    }
  }
  std::sort(placed.begin(), placed.end(), [](const Placed& l, const Placed& r) { return l.first < r.first; });
  std::vector<BroadcastAxis> axes;
  for (const Placed& test_case : placed) {
    if (axes.empty() || !merge(axes.back(), test_case.second)) axes.push_back(test_case.second);
  }
  if (axes.empty()) axes.push_back({1, 1, 1});
  return axes;
}

bool spreads(const Physical& operand, const Physical& y) {
  return sizes_of(operand)[packed_dim(y)] != sizes_of(y)[packed_dim(y)];
}

}  // namespace assay::ops
