#pragma once

#include <filesystem>
#include <vector>

namespace assay::cases {

/// The case files that a path stands for: itself, or all *.yaml below a directory, sorted, but for those in
/// folders named `expectations`. Throws Problem when there is none.
std::vector<std::filesystem::path> case_files(const std::filesystem::path& path);

/// Whether an entry of a directory is a file *.yaml.
bool is_yaml_file(const std::filesystem::directory_entry& entry);

/// The *.yaml directly in a directory, sorted.
std::vector<std::filesystem::path> yaml_files_in(const std::filesystem::path& directory);

}  // namespace assay::cases
