#include "references/linear/linear.h"

#include "harness/base/error.h"

#include <fmt/format.h>

namespace assay::references {
namespace {

constexpr std::int64_t values_of_a_word = 8;  // int4 ones

}  // namespace

Shape Linear::row_shape() const {
  Shape shape = batch;
  shape.push_back(m);
  return shape;
}

Shape Linear::with_batch(std::int64_t rows_of_matrix, std::int64_t columns) const {
  Shape shape = batch;
  shape.push_back(rows_of_matrix);
  shape.push_back(columns);
  return shape;
}

Linear checked_linear(const Params& params) {
  Linear linear;
  linear.batch = params.ints("batch");
  linear.m = params.integer("M");
  linear.k = params.integer("K");
  linear.n = params.integer("N");
  linear.bias = params.boolean("bias");
  linear.activation = activation_of(params);
  if (params.has("group_size")) linear.group_size = params.integer("group_size");
  if (params.has("dtype")) linear.real = parse_dtype(params.choice("dtype")).value();
  return linear;
}

Linear linear_params(const Params& params, std::int64_t largest_depth) {
  const Linear linear = checked_linear(params);
  if (linear.k > largest_depth) {
    throw ParameterError("K", fmt::format("K is {}, but sums of more than {} products may leave int32",
                                          linear.k, largest_depth));
  }
  if (linear.group_size % values_of_a_word != 0) {
    throw ParameterError("group_size",
                         fmt::format("group_size is {}, but must be a multiple of 8, the number of values in "
                                     "a word",
                                     linear.group_size));
  }
  if (linear.group_size != 0 && linear.k % linear.group_size != 0) {
    throw ParameterError("group_size", fmt::format("group_size is {}, but must divide K, which is {}",
                                                   linear.group_size, linear.k));
  }
  return linear;
}

std::span<const float> bias_of(const Linear& linear, std::span<const HostTensor> inputs) {
  return linear.bias ? inputs.back().as<float>() : std::span<const float>();
}

}  // namespace assay::references
