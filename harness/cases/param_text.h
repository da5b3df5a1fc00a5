#pragma once

#include "harness/op/params.h"

#include <string>

namespace assay::cases {

/// Texts for the documentation of a parameter, besides its name and meaning.
std::string type_text(const ParamSpec& param);     ///< "shape", "integer", "qparams"
std::string limits_text(const ParamSpec& param);   ///< "1..64", "f32 | f16"; empty: any value of the type
std::string default_text(const ParamSpec& param);  ///< "required", "default 2", "has a default"

}  // namespace assay::cases
