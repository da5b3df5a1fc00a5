#pragma once

#include "harness/engine/diagnosis/reference_probe.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

/// Which elements of the inputs one element of the output depends on, found by changing them and asking the
/// reference: "x[0,3]=1.5", "scale[0]=0.25". Of an input that it depends on in more than a few places, the
/// first and the last: "w[2,0]=3 to w[2,63]=-7". Empty where asking is too dear. What changes nothing here is
/// left out: the scale of a zero.
std::vector<std::string> made_from(const Case& test_case, ReferenceProbe& probe, std::int64_t element);

}  // namespace assay
