#pragma once

#include "harness/commands/points/draw.h"
#include "harness/op/op.h"
#include "harness/op/params.h"

#include <cstdint>

namespace assay::app {

/// Parameters with other sizes: some sizes of shapes, and of integers and lists that count something, are
/// drawn again, or one size is replaced by another everywhere, or one dim of each shape is multiplied by the
/// same factor. Everything else is kept. The op may not accept the result.
Params mutated(const Op& op, const Params& params, Draw& draw);

}  // namespace assay::app
