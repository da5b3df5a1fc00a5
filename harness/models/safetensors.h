#pragma once

#include "harness/models/decoder.h"
#include "harness/models/tensor_shapes.h"

#include <cstdint>
#include <string_view>

namespace assay::models {

/// Reads the shapes that the header of a .safetensors file lists. `bytes` are the file's first ones, with all
/// of the header. Throws Error that names `file` and what is wrong, also if the file, of `file_bytes`, ends
/// within its weights; it may end with the header.
TensorShapes parse_safetensors(std::string_view bytes, std::string_view file, std::uint64_t file_bytes);

/// The decoder whose weights have these shapes, by Hugging Face's names. Throws Error if the weights are not
/// all of one decoder, if a name has no place in it, or if shapes alone do not say how many heads it has:
/// without norms of queries and keys, that is in the config.json.
Decoder decoder_of_shapes(const TensorShapes& shapes, std::string_view file);

}  // namespace assay::models
