#pragma once

#include "harness/op/params.h"
#include "harness/tensor/dtype.h"
#include "harness/tensor/tensor.h"
#include "references/common/activation.h"

#include <cstdint>
#include <limits>
#include <span>

namespace assay::references {

/// The most products of int8 values whose sum int32 holds for any values: K * 128 * 128 < 2^31. Ops that
/// subtract a zero point have differences up to 255, and may sum half as many.
inline constexpr std::int64_t most_depth = 131071;
inline constexpr std::int64_t most_depth_with_zero_point = 65535;
/// No limit, for ops that sum real products.
inline constexpr std::int64_t any_depth = std::numeric_limits<std::int64_t>::max();

/// The checked parameters of a linear op: y[..., m, n] = act(sum over k of x[..., m, k] * w[n, k] + bias[n]),
/// with scales and zero points as each op says.
struct Linear {
  Shape batch;         ///< dims before M, possibly none
  std::int64_t m = 1;  ///< rows of x, for each index of `batch`
  std::int64_t k = 1;  ///< values per row
  std::int64_t n = 1;  ///< output channels
  std::int64_t group_size =
      0;              ///< neighbours along K that share a scale of w; divides K. 0: a whole row shares it
  bool bias = false;  ///< f32 [N], added after the scales
  Activation activation = Activation::None;  ///< after the bias
  DType real = DType::F32;                   ///< dtype of x or y where these are real

  std::int64_t rows() const { return numel(batch) * m; }
  std::int64_t groups() const { return group_size == 0 ? 1 : k / group_size; }
  Shape x_shape() const { return with_batch(m, k); }
  Shape y_shape() const { return with_batch(m, n); }
  /// The shape of tensors with one value per row of x: [..., M].
  Shape row_shape() const;

  /// The value after the activation.
  template <class Real>
  Real activated(Real value) const {
    return references::activated(activation, value);
  }

 private:
  Shape with_batch(std::int64_t rows_of_matrix, std::int64_t columns) const;
};

/// Reads batch, M, K, N, bias and activation; group_size and dtype where the op has them. Throws
/// ParameterError where K exceeds `largest_depth`, so that sums could leave int32, where group_size is not a
/// multiple of 8, and where it does not divide K.
Linear linear_params(const Params& params, std::int64_t largest_depth);

/// Reads parameters that have been checked already.
Linear checked_linear(const Params& params);

/// The values of bias, the last of an op's inputs; empty where it has no bias.
std::span<const float> bias_of(const Linear& linear, std::span<const HostTensor> inputs);

}  // namespace assay::references
