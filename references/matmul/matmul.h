#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::references {

/// A product of matrices: y = alpha * a * b + beta * c, for each matrix of a batch.
struct Matmul {
  std::int64_t batch = 1;            ///< matrices of a, b and y
  std::int64_t m = 1, k = 1, n = 1;  ///< a is m x k, b is k x n
  float alpha = 1, beta = 0;
  bool has_c = false;     ///< there is a tensor c, which is read unless beta is 0
  bool c_is_row = false;  ///< c is [n], added to each row; else it is [m, n]
  DType dtype = DType::F32;

  bool reads_c() const { return has_c && beta != 0; }
};

/// Values of a and b are at most this in magnitude, and values of c: no sum of the first, times alpha, leaves
/// float32.
inline constexpr double largest_factor = 0x1p37, largest_addend = 0x1p60;

/// Reads M, K, N and dtype; B, and alpha, beta and c where the op has them. Throws ParameterError where alpha
/// or beta is not 0 and so small or large that a float32 may lose it or its products.
Matmul matmul_params(const Params& params);

/// The answers of mm, bmm and addmm, in float64: inputs a, b, and c where the op has it. The magnitude is
/// |alpha| * sum of |a||b| + |beta * c|.
std::vector<Expected> matmul(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
