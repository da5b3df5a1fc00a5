#include "references/relayout/permute.h"

#include "harness/base/error.h"
#include "harness/base/parallel.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace assay::references {
namespace {

/// The distance in x between neighbours along each dim of y.
Shape steps_in_x(const Shape& shape, const Shape& dims) {
  Shape stride(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) stride[i - 1] = stride[i] * shape[i];
  Shape steps;
  for (const std::int64_t dim : dims) steps.push_back(stride[static_cast<std::size_t>(dim)]);
  return steps;
}

std::int64_t source_of(const Shape& y_shape, const Shape& steps, std::int64_t index) {
  std::int64_t source = 0;
  for (std::size_t dim = y_shape.size(); dim-- > 0;) {
    source += index % y_shape[dim] * steps[dim];
    index /= y_shape[dim];
  }
  return source;
}

}  // namespace

Shape permuted(const Shape& shape, const Shape& dims) {
  Shape sorted = dims;
  std::sort(sorted.begin(), sorted.end());
  bool is_permutation = sorted.size() == shape.size();
  for (std::size_t i = 0; is_permutation && i < sorted.size(); ++i) {
    is_permutation = sorted[i] == static_cast<std::int64_t>(i);
  }
  if (!is_permutation) {
    throw ParameterError("dims", "dims " + to_string(dims) + " must name each of the " +
                                     std::to_string(shape.size()) + " dims of shape " + to_string(shape) +
                                     " once, counted from 0");
  }
  Shape result;
  for (const std::int64_t dim : dims) result.push_back(shape[static_cast<std::size_t>(dim)]);
  return result;
}

std::vector<Expected> permute(const Params& params, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  const Shape& dims = params.ints("dims");
  const Shape y_shape = permuted(x.shape(), dims);
  const Shape steps = steps_in_x(x.shape(), dims);
  const std::size_t size = size_of(x.dtype());
  std::vector<Expected> outputs(1);
  HostTensor& y = outputs[0].values;
  y = HostTensor(x.dtype(), y_shape);
  parallel_for(y.numel(), cheap_grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const auto source = static_cast<std::size_t>(source_of(y_shape, steps, i));
      std::memcpy(y.bytes().data() + static_cast<std::size_t>(i) * size, x.bytes().data() + source * size,
                  size);
    }
  });
  return outputs;
}

}  // namespace assay::references
