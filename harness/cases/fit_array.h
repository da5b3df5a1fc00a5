#pragma once

#include "harness/op/op.h"
#include "harness/tensor/tensor.h"

namespace assay {

/// Throws what fit_array() would throw for an array of that dtype and shape, without looking at values.
void check_fit(DType dtype, const Shape& shape, const TensorSpec& tensor);

/// Converts an array from a file to the values of a tensor. Dims of 1 may be missing or extra. Floats become
/// the tensor's float dtype and integers its integer dtype, if it can represent every value. For a bounded
/// output float64 is kept, because its answers are compared in float64. Throws Error, whose text continues
/// after the file's name ("holds ...").
HostTensor fit_array(HostTensor array, const TensorSpec& tensor);

}  // namespace assay
