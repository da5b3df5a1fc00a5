#pragma once

#include "harness/op/op.h"

#include <string>
#include <vector>

namespace assay::ops {

// What rms_norm and layer_norm share.

/// The parameters shape, dtype and eps.
std::vector<ParamSpec> norm_params();

/// An input whose magnitudes are at most 2^60, the domain of references/transformer/norms.h.
TensorSpec norm_input(std::string name, DType dtype, const Shape& shape);

/// The output y of x's shape.
TensorSpec norm_output(const TensorSpec& x);

/// Why the kernels of norms cannot take the op's tensors, or nothing.
std::optional<std::string> norm_invalid_reason(const ImplPoint& point);

/// One dispatch of NAME.comp, whose push constants are those of shaders/transformer/norms.glslh.
Program norm_program(const BuildContext& context, const std::string& name);

/// 1 / the size of a row, as kernels multiply by it.
float inverse_width(const BuildContext& context);

/// The relative error of 1 / sqrt(mean of squares + eps). Half of: a square, the additions, the mean's factor
/// and product, + eps; and the 2 ULP of inversesqrt().
double error_of_inverse_root(const BuildContext& context);

}  // namespace assay::ops
