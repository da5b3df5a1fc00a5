#pragma once

#include "harness/op/op.h"
#include "references/linear.h"

namespace assay::ops {

Resource requantizers(Program& program, const BuildContext& context, const references::Linear& linear);
void check_fixed_point(const Params& params, const references::Linear& linear);

}  // namespace assay::ops
