#pragma once

#include "harness/op/op.h"
#include "references/transformer/sdpa.h"

#include <cstdint>
#include <optional>
#include <string>

namespace assay::ops {

// Attention. The tensors of every program are q, k, v, with a q8 cache k_scale and v_scale, the mask if there
// is one, and y.

/// The largest magnitudes of q and k, of v, and of a mask. Scores stay so small that their errors change
/// weights by parts, not by factors.
inline constexpr double largest_of_scores = 16, largest_value = 0x1p15, largest_of_mask = 1024;

/// The unit error of weights whose scores are off by `error` of their size: the bound is of first order, and
/// this much more is enough for the others.
double grown_error(const references::Sdpa& op, double error);

/// Why no impl can take these tensors, or nothing.
std::optional<std::string> sdpa_invalid_reason(const ImplPoint& point);

/// The workgroups that share the keys of a query with impl `split`, where no case tunes them.
std::int64_t splits_by_default(const BuildContext& context);

Impl unfused_sdpa();  ///< three dispatches: scores, softmax, sums of values
Impl fused_sdpa();    ///< one pass with online softmax
Impl split_sdpa();    ///< the same by several workgroups, whose results a second dispatch joins

}  // namespace assay::ops
