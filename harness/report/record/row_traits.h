#pragma once

#include "harness/report/record/record.h"

#include <string>
#include <vector>

namespace assay {

/// Traits of a row that other rows of its op may not share, in words that follow "with": "y in a buffer",
/// "impl fused". Those most likely to matter come first.
std::vector<std::string> traits_of(const RowInfo& row);

}  // namespace assay
