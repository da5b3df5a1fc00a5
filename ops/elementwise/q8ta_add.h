#pragma once

#include "harness/tensor/form.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <vector>

namespace assay::ops {

/// One axis of an int8x4 tensor's memory order, counted in words. Its steps are the distances between
/// neighbours in each of two operands that are broadcast to that tensor; 0: the operand has one word for all
/// of them.
struct BroadcastAxis {
  std::int64_t size = 1;
  std::int64_t a_step = 0;
  std::int64_t b_step = 0;
  friend bool operator==(const BroadcastAxis&, const BroadcastAxis&) = default;
};

/// The fewest axes, fastest first and at least one, from which a kernel gets the words of a and b for a word
/// of y: one axis where neither is broadcast. All three have the same int8x4 layout, and each dim of a and b
/// equals y's or is 1.
std::vector<BroadcastAxis> broadcast_axes(const Physical& a, const Physical& b, const Physical& y);

/// Whether the operand is broadcast along the packed dim: its words hold one value for four of y.
bool spreads(const Physical& operand, const Physical& y);

}  // namespace assay::ops
