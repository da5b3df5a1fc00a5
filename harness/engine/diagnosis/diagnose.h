#pragma once

#include "harness/engine/diagnosis/evidence.h"
#include "harness/report/record/accuracy_result.h"

#include <optional>
#include <string>

namespace assay {

// Hypotheses about where the wrong elements are, whatever their values.

/// Explains errors that are confined to the last (or all but the first) indices of a dim, the last lane of
/// every four, or the last elements in row-major order, if most elements there are wrong.
std::optional<Explanation> explain_tail(const WrongOutput& output);
/// Explains errors in images (rank 3 or 4) that are confined to the outermost rows and columns, on more than
/// one side.
std::optional<Explanation> explain_edge(const WrongOutput& output);

/// The name of a dim of an output: "column", "row", "channel" or "batch" for rank 4; for other ranks "row"
/// and "column" for the last two dims, "index along dim 0" for the rest.
std::string dim_name(const Shape& shape, std::size_t dim);

/// The kind of error: the likeliest hypothesis that explains at least least_share of the wrong elements;
/// nothing when none does. Hypotheses about values come before those about places; when an error explained by
/// its values occurs only at the end of a dim, the diagnosis mentions that too.
std::optional<Diagnosis> diagnose(const WrongOutput& output, ReferenceProbe& probe);

}  // namespace assay
