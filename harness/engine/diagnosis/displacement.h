#pragma once

#include "harness/engine/diagnosis/element_map.h"
#include "harness/engine/diagnosis/explanation.h"

namespace assay {

/// What was got is expected at another place: of a neighbour (index), a lane (packing) or a transposed place
/// or layout (layout).
std::optional<Explanation> explain_displacement(const WrongOutput& output);

/// The lanes of each four along the packed dim, the last dim or in row-major order are in another order.
std::optional<Explanation> explain_lanes(const WrongOutput& output);

/// index, packing or layout.
ErrorKind kind_of(ElementMap::Kind kind);

}  // namespace assay
