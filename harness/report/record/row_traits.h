#pragma once

#include "harness/report/record/record.h"

#include <string>
#include <vector>

namespace assay {

/// What is so of a row that others of its op may not share, in words that go after "with": "y in a buffer",
/// "impl fused". The likelier to be what matters, the earlier.
std::vector<std::string> traits_of(const RowInfo& row);

}  // namespace assay
