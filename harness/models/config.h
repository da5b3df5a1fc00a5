#pragma once

#include "harness/models/decoder.h"
#include "harness/models/json.h"

#include <string_view>

namespace assay::models {

/// The decoder that a Hugging Face config.json describes. Throws Error if a member is missing, has another
/// type, or needs what no op has; for an index of .safetensors files it says what to give instead.
Decoder decoder_of_config(const Json& config, std::string_view file);

}  // namespace assay::models
