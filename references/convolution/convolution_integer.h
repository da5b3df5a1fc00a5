#pragma once

#include "references/convolution/convolution.h"
#include "references/linear/linear_integer.h"
#include "references/linear/linear_rows.h"

namespace assay::references {

/// Calls store(index in y, output channel, sum) for every element of y, from several threads: the sums of x *
/// w over kh, kw and the channels of a group. `x`: its values minus their zero point, in the order N, C, H,
/// W. `w`: weight_rows(). The matrix that x is expanded to is made in parts.
void for_each_sum(const Convolution& conv, const IntegerRows& x, const IntegerRows& w, const StoreSum& store);

}  // namespace assay::references
