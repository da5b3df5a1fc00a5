#pragma once

#include "harness/app/judge/finding.h"

#include <filesystem>
#include <string>
#include <vector>

namespace assay::app {

/// Shaders that somebody else has written, as they are judged.
struct Submission {
  std::filesystem::path folder;        ///< copies of `files`: what is run, whatever becomes of the original
  std::vector<std::string> files;      ///< that are not as assay has them, sorted: "q8ta_relu.comp"
  std::vector<std::string> unchanged;  ///< that are just as assay has them
  std::vector<Finding> findings;       ///< what is not taken, and speaks against it
  std::string hash;                    ///< of the names and texts of `files`
};

/// Copies the shaders of `from` to the new folder `to`. Taken are regular files *.comp and *.glslh that
/// differ from those that are part of the binary; no link is followed, and none of the harness's own kernels
/// is replaced. Throws Error(Usage) where there is no shader, nothing that differs, or more than anybody
/// writes.
Submission take_submission(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace assay::app
