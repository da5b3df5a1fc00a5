#pragma once

#include "harness/external/manifest/manifest.h"
#include "harness/op/op.h"

#include <filesystem>
#include <string>

namespace assay::external {

/// The op that a manifest declares. Its programs call kernels as they are (ExternalCall). Its reference runs
/// in a process of its own, or is that of an op of `registry`. Throws Error with the place in the manifest if
/// there is no such op.
Op op_of(Manifest manifest, const Registry& registry);

/// A hash of the names and contents of all regular files below a folder. Does not depend on where the folder
/// is. Throws Error for more files or bytes than an op has.
std::string folder_hash(const std::filesystem::path& folder);

}  // namespace assay::external
