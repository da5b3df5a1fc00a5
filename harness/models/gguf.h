#pragma once

#include "harness/models/decoder.h"
#include "harness/models/tensor_shapes.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay::models {

/// An array among a GGUF file's metadata.
struct GgufArray {
  std::uint64_t size = 0;
  std::vector<std::int64_t> integers;  ///< its first elements, up to 10,000, if they are integers or booleans
};

/// A value of a GGUF file's metadata. Integers that int64 does not hold are kept as the largest that it
/// holds.
using GgufValue = std::variant<std::int64_t, double, bool, std::string, GgufArray>;

/// What precedes the weights in a GGUF file.
struct GgufHeader {
  std::map<std::string, GgufValue, std::less<>> metadata;
  TensorShapes tensors;  ///< GGUF writes the innermost dim first; here the outermost is
};

/// Reads the header of a GGUF file of version 2 or 3. `bytes` are the file's first ones, with all of the
/// header, and `file` names it in errors. Memory grows with `bytes` alone: no count of the file is believed
/// that the rest of it could not hold. Throws Error that says at which byte what is wrong, also if the file,
/// of `file_bytes`, ends within its weights; it may end with the header.
GgufHeader parse_gguf(std::string_view bytes, std::string_view file, std::uint64_t file_bytes);
/// Of a file that is no longer than these bytes.
inline GgufHeader parse_gguf(std::string_view bytes, std::string_view file) {
  return parse_gguf(bytes, file, bytes.size());
}

/// The decoder that a header describes. Throws Error if a value is missing, has another type, does not fit
/// the shapes of the tensors that the header lists, or needs what no op has; if the header lists a tensor
/// that has no place in a decoder; and if it lists blocks and lacks a weight, unless it is a part of a split
/// model.
Decoder decoder_of(const GgufHeader& header, std::string_view file);

}  // namespace assay::models
