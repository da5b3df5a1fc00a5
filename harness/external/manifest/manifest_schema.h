#pragma once

#include <string>

namespace assay::external {

/// The JSON Schema of manifests, for editors: manifest_schema.json.
std::string manifest_schema();

}  // namespace assay::external
