#pragma once

#include "harness/engine/diagnosis/element_map.h"
#include "harness/engine/diagnosis/wrong_output.h"

namespace assay {

/// Explains values that are expected at another place: a neighbour (index), another lane (packing), or a
/// transposed place or another layout (layout).
std::optional<Explanation> explain_displacement(const WrongOutput& output);

/// Explains groups of four lanes in another order, along the packed dim, the last dim, or in row-major order.
std::optional<Explanation> explain_lanes(const WrongOutput& output);

/// The kind of error that a map stands for: index, packing or layout.
ErrorKind kind_of(ElementMap::Kind kind);

}  // namespace assay
