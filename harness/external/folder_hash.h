#pragma once

#include <filesystem>
#include <string>

namespace assay::external {

/// A hash of the names and contents of all regular files below a folder. Does not depend on where the folder
/// is. Throws Error for more files or bytes than an op has.
std::string folder_hash(const std::filesystem::path& folder);

}  // namespace assay::external
