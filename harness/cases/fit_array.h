#pragma once

#include "harness/op/op.h"
#include "harness/tensor/tensor.h"

namespace assay {

/// Throws what fit_array() throws of an array of that dtype and shape, whatever its values are.
void check_fit(DType dtype, const Shape& shape, const TensorSpec& tensor);

/// An array of a file as the values of a tensor. Dims of 1 may be missing or too many; floats become the
/// float dtype of the tensor, integers the integer one, when every value is a number of it. float64 stays
/// what it is for a bounded output, whose answers are compared with it in float64. Throws Error, whose text
/// goes on after the file's name ("holds ...").
HostTensor fit_array(HostTensor array, const TensorSpec& tensor);

}  // namespace assay
