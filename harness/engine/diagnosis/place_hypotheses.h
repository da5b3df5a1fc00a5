#pragma once

#include "harness/engine/diagnosis/explanation.h"

#include <string>

namespace assay {

// Hypotheses about where the wrong elements lie, whatever they hold.

/// Only the last (or all but the first) indices of a dim, the last lane of every four, or the last elements
/// in row-major order are wrong, and most of these are.
std::optional<Explanation> explain_tail(const WrongOutput& output);
/// Of images (rank 3 or 4): only the outermost rows and columns are wrong, on more than one side.
std::optional<Explanation> explain_edge(const WrongOutput& output);

/// What a dim of an output is called: "column", "row", "channel", "batch" of rank 4, else "row" and "column"
/// of the last two, "index along dim 0" of others.
std::string dim_name(const Shape& shape, std::size_t dim);

}  // namespace assay
