#pragma once

#include "harness/tensor/tensor.h"

namespace assay {

/// Whether two shapes differ by dims of 1 only: [64] and [64,1,1,1].
bool same_but_for_ones(const Shape& a, const Shape& b);

/// Whether the values of one dtype may be had as another, where they are the same numbers there: any float as
/// any other, any integer as any other.
bool may_convert(DType from, DType to);

/// `tensor` with another dtype and shape, which has as many elements. Throws Error ("holds 0.1 at
/// [1, 0], ...") about the first element that is no number of that dtype; std::logic_error where
/// may_convert() is false or counts differ.
HostTensor converted(HostTensor tensor, DType dtype, const Shape& shape);

}  // namespace assay
