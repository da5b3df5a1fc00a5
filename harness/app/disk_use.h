#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace assay::app {

/// Sum of the sizes of all files below a folder, in bytes. Links are not followed; what cannot be read counts
/// as nothing.
std::uintmax_t bytes_below(const std::filesystem::path& folder);

/// What a user may still write to the file system that a path is on, in bytes.
std::optional<std::uintmax_t> free_bytes(const std::filesystem::path& path);

}  // namespace assay::app
