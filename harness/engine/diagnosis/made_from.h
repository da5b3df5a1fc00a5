#pragma once

#include "harness/engine/diagnosis/reference_probe.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

/// Which elements of the inputs one element of the output depends on, found by changing them and asking the
/// reference: "x[0,3]=1.5", "scale[0]=0.25". For an input with more than a few such elements, the first and
/// the last: "w[2,0]=3 to w[2,63]=-7". Empty if that is too expensive. Elements whose change has no effect
/// here, such as the scale of a zero, are left out.
std::vector<std::string> made_from(const Case& test_case, ReferenceProbe& probe, std::int64_t element);

}  // namespace assay
