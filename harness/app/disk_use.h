#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace assay::app {

/// Sum of the sizes of all files below a folder, in bytes. Links are not followed; unreadable files and
/// folders do not count.
std::uintmax_t bytes_below(const std::filesystem::path& folder);

/// Free space for users on the file system of a path, in bytes.
std::optional<std::uintmax_t> free_bytes(const std::filesystem::path& path);

}  // namespace assay::app
