#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "ops/common/tensor_at.h"
#include "references/linear.h"

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

// Parameters and tensors that linear ops share.

namespace assay::ops {

/// batch, M, K and N; then `own`; then bias and activation.
std::vector<ParamSpec> linear_params(std::vector<ParamSpec> own);

ParamSpec real_dtype_param(const std::string& doc);  ///< dtype: f32 (default) or f16
ParamSpec epilogue_param();                          ///< how int8 outputs are made of int32 sums
ParamSpec group_size_param();                        ///< a multiple of 8 that divides K

double depth_of_linear(const Params& params);  ///< K

/// y: its scale follows from x's and from `depth`, the products of an element (K of linear ops), so that
/// outputs neither saturate nor vanish. `x_scale`: of x, or what scales of x are about.
ParamSpec y_qparams_param(const std::function<double(const Params&)>& x_scale,
                          const std::function<double(const Params&)>& depth = depth_of_linear);

/// What scales of x are about where x has one scale a row.
double typical_row_scale(const Params& params);

/// x of real values, x of int8 with one scale for all, and x of int8 with one a row.
TensorSpec real_x(const references::Linear& linear);
TensorSpec int8_x(const references::Linear& linear);
TensorSpec int8_rows_x(const references::Linear& linear);
/// x_scale and x_zero_point, one of each a row.
std::vector<TensorSpec> row_qparams(const references::Linear& linear);

/// An input that stays as it is while activations change, in a row-major buffer.
TensorSpec constant_tensor(std::string name, DType dtype, Shape shape);
/// w_scale, f32, of weights.
TensorSpec weight_scales(Shape shape);

/// w of int8 and w_scale, one an output channel.
std::vector<TensorSpec> int8_weights(const references::Linear& linear);
/// w of int4, two in a byte, and w_scale, one a group and output channel.
std::vector<TensorSpec> int4_weights(const references::Linear& linear);
TensorSpec group_zero_points(const references::Linear& linear);  ///< w_zero_point, of int4 weights

/// x, x_scale, x_zero_point, w, w_scale, w_zero_point.
std::vector<TensorSpec> int8_rows_and_int4_weights(const references::Linear& linear);

TensorSpec real_y(const references::Linear& linear);
TensorSpec int8_y(const references::Linear& linear, std::vector<Form> forms);

/// `inputs`, then bias where the op has it, then `y`.
std::vector<TensorSpec> with_bias(const references::Linear& linear, std::vector<TensorSpec> inputs,
                                  TensorSpec y);

/// Each tensor once, and a multiplication and an addition for each k of each element.
Work linear_work(const Params& params, std::span<const TensorSpec> tensors);

/// Rows of x, for the column `tokens`.
std::int64_t linear_tokens(const Params& params);

/// Where an op has a tensor of this name, if it has one.
std::optional<std::uint32_t> find_tensor(std::span<const TensorSpec> tensors, std::string_view name);

/// The tensor of this name, in its form. Throws std::logic_error where the op has none.
TensorAt tensor_named(const BuildContext& context, std::string_view name);

}  // namespace assay::ops
