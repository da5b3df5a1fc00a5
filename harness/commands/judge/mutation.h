#pragma once

#include "harness/commands/judge/draw.h"
#include "harness/op/op.h"
#include "harness/op/params.h"

#include <cstdint>

namespace assay::app {

/// Draws a size at which kernels are more often wrong, up to about 300: 1, a few, primes, multiples of a
/// vector or a tile and their neighbours.
std::int64_t drawn_size(Draw& draw);

/// Parameters with other sizes: some sizes of shapes, and of integers and lists that count something, are
/// drawn again, or one size is replaced by another everywhere, or one dim of each shape is multiplied by the
/// same factor. Everything else is kept. The op may not accept the result.
Params mutated(const Op& op, const Params& params, Draw& draw);

}  // namespace assay::app
