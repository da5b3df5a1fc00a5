#pragma once

#include "harness/app/run_options.h"
#include "harness/gpu/gpu.h"

#include <filesystem>
#include <iosfwd>
#include <set>
#include <string>

namespace assay::app {

/// Options for shaders from `folder` before the embedded ones, with the cache on disk; an empty path: only
/// the embedded ones.
gpu::ShaderOptions shader_options(const std::filesystem::path& folder,
                                  const std::vector<std::string>& compiler);

/// Lists on `log` the files that programs of `shaders` ("copy.comp") use from the folders of --shaders and
/// --versus-shaders. Throws Error if there are none: the run would then test other shaders than intended. If
/// `shaders` is empty nothing runs, and the rows say why. `timed`: rows are timed, so that the clock probe
/// and the ceilings count as used.
void check_shader_folders(const RunOptions& options, const std::set<std::string>& shaders, bool timed,
                          std::ostream& log);

}  // namespace assay::app
