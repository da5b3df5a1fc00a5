#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "ops/common/tensor_at.h"
#include "references/linear/linear.h"

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

// Parameters and tensors that linear ops share.

namespace assay::ops {

/// The parameters batch, M, K and N, then `own`, then bias and activation.
std::vector<ParamSpec> linear_params(std::vector<ParamSpec> own);

ParamSpec real_dtype_param(const std::string& doc);  ///< dtype: f32 (default) or f16
ParamSpec epilogue_param();                          ///< how int8 outputs are computed from int32 sums
ParamSpec group_size_param();                        ///< a multiple of 8 that divides K

double depth_of_linear(const Params& params);  ///< K

/// The parameter y. Its scale follows from x's and from `depth`, the number of products per element (K of
/// linear ops), so that outputs neither saturate nor vanish. `x_scale`: the scale of x, or a typical one
/// where x has one scale per row.
ParamSpec y_qparams_param(const std::function<double(const Params&)>& x_scale,
                          const std::function<double(const Params&)>& depth = depth_of_linear);

/// A typical scale of x where x has one scale per row.
double typical_row_scale(const Params& params);

/// The tensor x: of real values, of int8 with one scale for all, or of int8 with one scale per row.
TensorSpec real_x(const references::Linear& linear);
TensorSpec int8_x(const references::Linear& linear);
TensorSpec int8_rows_x(const references::Linear& linear);
/// The tensors x_scale and x_zero_point, with one value per row.
std::vector<TensorSpec> row_qparams(const references::Linear& linear);

/// An input that stays the same while activations change, in a row-major buffer.
TensorSpec constant_tensor(std::string name, DType dtype, Shape shape);
/// The scales of weights, w_scale (f32).
TensorSpec weight_scales(Shape shape);

/// The tensors w (int8) and w_scale with one scale per output channel.
std::vector<TensorSpec> int8_weights(const references::Linear& linear);
/// The tensors w (int4, two in a byte) and w_scale with one scale per group and output channel.
std::vector<TensorSpec> int4_weights(const references::Linear& linear);
TensorSpec group_zero_points(const references::Linear& linear);  ///< w_zero_point, for int4 weights

/// The tensors x, x_scale, x_zero_point, w, w_scale, w_zero_point.
std::vector<TensorSpec> int8_rows_and_int4_weights(const references::Linear& linear);

TensorSpec real_y(const references::Linear& linear);
TensorSpec int8_y(const references::Linear& linear, std::vector<Form> forms);

/// The tensors `inputs`, then bias where the op has it, then `y`.
std::vector<TensorSpec> with_bias(const references::Linear& linear, std::vector<TensorSpec> inputs,
                                  TensorSpec y);

/// Counts each tensor's bytes once, and a multiplication and an addition for each k of each element.
Work linear_work(const Params& params, std::span<const TensorSpec> tensors);

/// The rows of x, for the column `tokens`.
std::int64_t linear_tokens(const Params& params);

/// The index of the tensor of this name, if the op has one.
std::optional<std::uint32_t> find_tensor(std::span<const TensorSpec> tensors, std::string_view name);

/// The tensor of this name, in its form. Throws std::logic_error where the op has none.
TensorAt tensor_named(const BuildContext& context, std::string_view name);

}  // namespace assay::ops
