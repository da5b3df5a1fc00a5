#pragma once

#include "harness/app/judge/draw.h"
#include "harness/op/op.h"
#include "harness/op/params.h"

#include <cstdint>

namespace assay::app {

/// A size that kernels are wrong at more often than at others, up to about 300: 1, a few, primes, multiples
/// of a vector or a tile and their neighbours.
std::int64_t drawn_size(Draw& draw);

/// Parameters of other sizes: each shape, and each integer and list that counts something, has some sizes
/// drawn anew, or one size replaced by another wherever it stands, or one dim of each shape multiplied by the
/// same. All else stays. Whether an op accepts them is not asked.
Params mutated(const Op& op, const Params& params, Draw& draw);

}  // namespace assay::app
