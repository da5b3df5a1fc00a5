#pragma once

#include "harness/op/op.h"
#include "references/transformer/sdpa.h"

#include <cstdint>
#include <numbers>
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

/// Kernels of one pass count scores in powers of two.
inline constexpr double log2_of_e = std::numbers::log2e;

/// Appends the push constants of shaders/transformer/sdpa.glslh, with the scale times `factor`, and sets its
/// defines.
void add_attention(Dispatch& dispatch, const references::Sdpa& op, double factor = 1);

/// Binds the mask, if there is one, at MASK_AT.
void bind_mask(Dispatch& dispatch, const BuildContext& context, const references::Sdpa& op);
std::uint32_t index_of_y(const BuildContext& context);

/// The most workgroups that share the keys of a query.
inline constexpr std::int64_t most_splits_of_sdpa = 256;
/// Scratch for what they sum, and the dispatch that joins it.
Resource add_parts(Program& program, const references::Sdpa& op, std::int64_t splits);
Dispatch join_parts(const BuildContext& context, const references::Sdpa& op, std::int64_t splits,
                    Resource partial);

/// Whether impl `coopmat` can run, as far as types, widths and the device's matrices decide.
bool has_matrices_for_sdpa(const BuildContext& context);

Impl unfused_sdpa();  ///< three dispatches: scores, softmax, sums of values
Impl fused_sdpa();    ///< one pass with online softmax
Impl coopmat_sdpa();  ///< one pass by cooperative matrices
Impl split_sdpa();    ///< the same by several workgroups, whose results a second dispatch joins

}  // namespace assay::ops
