#pragma once

#include "harness/op/expected.h"
#include "harness/op/op.h"

#include <string_view>

namespace assay {

/// Throws std::logic_error naming the op and the output if a reference's answer does not match the op's
/// declaration: the dtype (a bounded output may be float64), the shape, and exactly the lists that the
/// output's class needs, with one entry per element. Exact: only values. Banded: integers, `unrounded` and
/// `magnitude`. Bounded: `bound`, `magnitude` or both.
void check_expected(std::string_view op, const TensorSpec& output, const Expected& expected);

}  // namespace assay
