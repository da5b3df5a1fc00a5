#pragma once

#include "harness/app/run_options.h"
#include "harness/gpu/gpu.h"

#include <filesystem>
#include <iosfwd>
#include <set>
#include <string>

namespace assay::app {

/// The sources that `folder` overrides, with the cache on disk; an empty path: the embedded ones alone.
gpu::ShaderOptions shader_options(const std::filesystem::path& folder,
                                  const std::vector<std::string>& compiler);

/// Says into `log` what is taken from the folders of --shaders and --versus-shaders by programs of `shaders`
/// ("copy.comp"). Throws Error where that is nothing: a run would then say something about other shaders than
/// the ones that were meant. Without shaders nothing runs, and the rows say why. `timed`: rows are timed, so
/// that the clock probe and the ceilings count as used.
void check_shader_folders(const RunOptions& options, const std::set<std::string>& shaders, bool timed,
                          std::ostream& log);

}  // namespace assay::app
