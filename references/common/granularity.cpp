#include "references/common/granularity.h"

#include "harness/base/error.h"

#include <string>

namespace assay::references {
namespace {

std::size_t checked_axis(const Shape& shape, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (axis < -rank || axis >= rank) {
    throw ParameterError("axis", "axis is " + std::to_string(axis) + ", but shape " + to_string(shape) +
                                     " takes " + std::to_string(-rank) + " to " + std::to_string(rank - 1));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

}  // namespace

std::vector<std::int64_t> block_size_of(Granularity granularity, const Shape& shape, std::int64_t axis) {
  std::vector<std::int64_t> block = shape;
  if (granularity == Granularity::PerToken) {
    block.assign(shape.size(), 1);
    block.back() = shape.back();
  } else if (granularity == Granularity::PerChannel) {
    block[checked_axis(shape, axis)] = 1;
  }
  return block;
}

Params affine_params_of(Granularity granularity, const Params& named) {
  const bool has_axis = granularity == Granularity::PerChannel;
  Params params = named;
  params.set("block_size",
             block_size_of(granularity, named.ints("shape"), has_axis ? named.integer("axis") : 0));
  params.set("zero_point_domain", std::string("int"));
  return params;
}

}  // namespace assay::references
