#pragma once

#include "harness/models/decoder.h"

#include <filesystem>

namespace assay::models {

/// The decoder that a file describes: the header of a GGUF file, a config.json of Hugging Face or the header
/// of a .safetensors file, told apart by their first bytes. Weights are not read, and may be missing. At most
/// 64 MiB are read; no other file is opened, whatever this one names. Throws Error that says what is wrong,
/// in the file or with it (a FIFO, a device and a folder are not read).
Decoder read_model(const std::filesystem::path& file);

}  // namespace assay::models
