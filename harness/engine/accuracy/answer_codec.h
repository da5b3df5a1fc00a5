#pragma once

#include "harness/op/expected.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace assay {

/// Encodes the answers of a reference as bytes, with a checksum at the end.
std::vector<std::byte> encode_answers(std::span<const Expected> answers);

/// Decodes the bytes of encode_answers(); nothing for other or damaged bytes.
std::optional<std::vector<Expected>> decode_answers(std::span<const std::byte> bytes);

}  // namespace assay
