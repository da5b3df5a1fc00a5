#pragma once

#include "harness/cases/yaml/source_file.h"
#include "harness/op/op.h"

#include <filesystem>
#include <span>
#include <vector>

namespace assay::external {

/// The ops that manifests declare.
struct LoadedOps {
  std::vector<Op> ops;
  std::vector<Diagnostic> errors;
};

/// The file name of a manifest.
inline constexpr const char* manifest_name = "op.yaml";

/// The manifests in a folder, or in those directly below it, sorted; none if it has none.
std::vector<std::filesystem::path> manifests_in(const std::filesystem::path& folder);

/// Reads the manifest in each folder, or where it has none those in the folders directly below it. An op that
/// `builtin` has, one that two manifests declare, and a folder without any manifest are errors; an op that
/// `builtin` has from this very manifest is left out.
LoadedOps load_ops(std::span<const std::filesystem::path> folders, const Registry& builtin);

}  // namespace assay::external
