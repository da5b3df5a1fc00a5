#pragma once

#include "harness/commands/judge/judgement.h"

#include <filesystem>
#include <string>
#include <vector>

namespace assay::app {

/// Submitted shaders, as they are judged.
struct Submission {
  std::filesystem::path folder;        ///< copies of `files`, which are run whatever happens to the originals
  std::vector<std::string> files;      ///< shaders that differ from assay's, sorted: "q8ta_relu.comp"
  std::vector<std::string> unchanged;  ///< shaders that equal assay's
  std::vector<Finding>
      findings;      ///< files that are ignored and count against it; their names are made fit for a line
  std::string hash;  ///< SHA-256 of the names and texts of `files`
};

/// Copies the shaders of `from` to the new folder `to`: regular files *.comp and *.glslh that differ from
/// those embedded in the binary. Links are not followed, and the harness's own kernels are not replaced.
/// Files that nobody can judge (too many, too large, no regular file, a name that reports cannot show) are
/// findings, and then `files` is empty. Throws Error(Usage) if there is no shader, or none that differs, or
/// if `to` is inside `from`.
Submission take_submission(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace assay::app
