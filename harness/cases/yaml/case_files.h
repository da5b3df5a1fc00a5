#pragma once

#include <filesystem>
#include <vector>

namespace assay::cases {

/// Returns the case files that a path stands for: the file itself, or all *.yaml below a directory, sorted,
/// without those in folders named `expectations`. Throws Problem if there is none.
std::vector<std::filesystem::path> case_files(const std::filesystem::path& path);

/// Returns whether a directory entry is a file named *.yaml, or a link with such a name to nothing: reading
/// it is an error, where passing over it would lose its cases.
bool is_yaml_file(const std::filesystem::directory_entry& entry);

/// Returns the *.yaml files directly in a directory, sorted.
std::vector<std::filesystem::path> yaml_files_in(const std::filesystem::path& directory);

}  // namespace assay::cases
