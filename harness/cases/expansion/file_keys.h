#pragma once

#include <string>
#include <vector>

namespace assay::cases {

/// The keys at the top of a file of cases or of a chain.
const std::vector<std::string>& case_file_keys();

/// The keys at the top of a manifest, which declares an op (docs/own-ops.md) and may have its cases.
const std::vector<std::string>& manifest_keys();

}  // namespace assay::cases
