#pragma once

#include "harness/op/expected.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace assay {

/// The answers of a reference as bytes, with a checksum at the end.
std::vector<std::byte> encode_answers(std::span<const Expected> answers);

/// Nothing for bytes that encode_answers() did not write, or that were changed since.
std::optional<std::vector<Expected>> decode_answers(std::span<const std::byte> bytes);

}  // namespace assay
