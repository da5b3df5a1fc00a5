#include "references/matmul/matmul.h"

#include "harness/base/error.h"
#include "harness/base/parallel.h"
#include "references/common/real_output.h"
#include "references/linear/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace assay::references {
namespace {

constexpr double smallest_factor = 1e-6, largest_scale = 1e6;

float factor_of(const Params& params, const std::string& name) {
  const double value = params.number(name);
  const double size = std::fabs(value);
  if (size != 0 && (size < smallest_factor || size > largest_scale)) {
    throw ParameterError(name, fmt::format("{} is {}, but must be 0 or have a magnitude from {} to {}", name,
                                           value, smallest_factor, largest_scale));
  }
  return static_cast<float>(value);
}

/// The values of `tensor` (f32 or f16) from `first` on.
std::vector<float> floats_of(const HostTensor& tensor, std::int64_t first, std::int64_t count) {
  std::vector<float> made(static_cast<std::size_t>(count));
  parallel_for(count, cheap_grain, [&](std::int64_t begin, std::int64_t end) {
    if (tensor.dtype() == DType::F16) {
      const std::span<const Half> from = tensor.as<Half>();
      for (std::int64_t i = begin; i < end; ++i) made[i] = to_float(from[first + i]);
    } else {
      const std::span<const float> from = tensor.as<float>();
      std::copy(from.begin() + first + begin, from.begin() + first + end, made.begin() + begin);
    }
  });
  return made;
}

/// The columns of a matrix of rows of `columns` values, as rows.
std::vector<float> transposed(const std::vector<float>& matrix, std::int64_t columns) {
  const std::int64_t rows = std::ssize(matrix) / columns;
  std::vector<float> made(matrix.size());
  parallel_for(columns, std::max<std::int64_t>(1, cheap_grain / rows),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = 0; row < rows; ++row) {
                   for (std::int64_t n = begin; n < end; ++n)
                     made[n * rows + row] = matrix[row * columns + n];
                 }
               });
  return made;
}

RealRows rows_of(const std::vector<float>& values, std::int64_t depth) {
  return {std::ssize(values) / depth, depth,
          [&values, depth](std::int64_t row, std::int64_t first, std::int64_t last, double* to) {
            std::copy(values.begin() + row * depth + first, values.begin() + row * depth + last, to);
          }};
}

/// Sets the elements of one matrix of y.
void multiply(const Matmul& op, std::span<const HostTensor> inputs, std::int64_t matrix, BoundedOutput& y) {
  const std::vector<float> a = floats_of(inputs[0], matrix * op.m * op.k, op.m * op.k);
  const std::vector<float> b = transposed(floats_of(inputs[1], matrix * op.k * op.n, op.k * op.n), op.n);
  const bool c_is_row = op.has_c && inputs[2].shape().size() == 1;
  const auto alpha = static_cast<double>(op.alpha), beta = static_cast<double>(op.beta);
  real_products(rows_of(a, op.k), rows_of(b, op.k),
                [&](std::int64_t m, std::int64_t n, double sum, double magnitude) {
                  const double of_c = op.reads_c() ? beta * inputs[2].at(c_is_row ? n : m * op.n + n) : 0.0;
                  y.set((matrix * op.m + m) * op.n + n, alpha * sum + of_c,
                        std::fabs(alpha) * magnitude + std::fabs(of_c));
                });
}

}  // namespace

Matmul matmul_params(const Params& params) {
  Matmul op{.m = params.integer("M"), .k = params.integer("K"), .n = params.integer("N")};
  op.dtype = parse_dtype(params.choice("dtype")).value();
  if (params.has("B")) op.batch = params.integer("B");
  op.has_c = params.has("c");
  if (!op.has_c) return op;
  op.alpha = factor_of(params, "alpha");
  op.beta = factor_of(params, "beta");
  op.c_is_row = params.choice("c") == "row";
  return op;
}

std::vector<Expected> matmul(const Params& params, std::span<const HostTensor> inputs) {
  const Matmul op = matmul_params(params);
  Shape shape{op.m, op.n};
  if (params.has("B")) shape.insert(shape.begin(), op.batch);
  BoundedOutput y(op.dtype, shape);
  for (std::int64_t matrix = 0; matrix < op.batch; ++matrix) multiply(op, inputs, matrix, y);
  std::vector<Expected> outputs;
  outputs.push_back(y.take());
  return outputs;
}

}  // namespace assay::references
