#pragma once

#include "harness/op/op.h"

#include <string>
#include <vector>

namespace assay::ops {

// What ops have in common that compute each value of y from one value of each of two operands: floats of one
// shape, all in width-packed buffers or all in 3D textures of one layout, of the parameters `shape` and
// `dtype`.

/// Both operands and y, which is bounded.
std::vector<TensorSpec> float_operands(const Params& params, std::string first, std::string second);

/// The parameters; `tensors`: the names, for the documents.
std::vector<ParamSpec> float_operand_params(const std::string& tensors);

/// An impl of one dispatch of the shader `name`.comp, which takes 16 bytes at a time where y has whole ones,
/// or a texel. One vector an invocation is fastest at any size (shaders/NOTES.md).
Impl elementwise_floats(const std::string& name, double unit_error);

}  // namespace assay::ops
