#pragma once

#include "harness/tensor/tensor.h"

namespace assay {

/// Returns whether two shapes differ only by dims of 1: [64] and [64,1,1,1].
bool same_but_for_ones(const Shape& a, const Shape& b);

/// Returns whether values of one dtype may be converted to another if it can represent them: any float to any
/// float, any integer to any integer.
bool may_convert(DType from, DType to);

/// Returns `tensor` with another dtype and shape of as many elements. Throws Error ("holds 0.1 at [1, 0],
/// ...") about the first element that the dtype cannot represent, and std::logic_error if may_convert() is
/// false or the counts differ.
HostTensor converted(HostTensor tensor, DType dtype, const Shape& shape);

}  // namespace assay
