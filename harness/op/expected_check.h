#pragma once

#include "harness/op/expected.h"
#include "harness/op/op.h"

#include <string_view>

namespace assay {

/// Throws std::logic_error naming the op and the output when what a reference gave is not what the op
/// declares: the dtype (a bounded output may be given as float64) and shape, and exactly what the output's
/// class is judged by, one for each element. Exact: values alone. Banded: integers, `unrounded` and
/// `magnitude`. Bounded: `bound`, `magnitude` or both.
void check_expected(std::string_view op, const TensorSpec& output, const Expected& expected);

}  // namespace assay
