#pragma once

#include "harness/op/expected.h"
#include "harness/op/op.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace assay {

/// Encodes the answers of a reference as bytes, with a checksum at the end.
std::vector<std::byte> encode_answers(std::span<const Expected> answers);

/// The largest number of bytes that encode_answers() makes of answers for the outputs among `tensors`.
std::uint64_t most_encoded_bytes(std::span<const TensorSpec> tensors);

/// Decodes the bytes of encode_answers(); nothing for other or damaged bytes.
std::optional<std::vector<Expected>> decode_answers(std::span<const std::byte> bytes);

}  // namespace assay
