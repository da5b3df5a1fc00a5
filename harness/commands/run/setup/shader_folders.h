#pragma once

#include "harness/commands/run_options.h"
#include "harness/gpu/gpu.h"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <set>
#include <string>

namespace assay::app {

/// Whether SPIR-V is taken from the cache on disk that all runs share, and stored there.
enum class SpirvOnDisk : std::uint8_t { Shared, None };

/// Options for shaders from `folder` before the embedded ones; an empty path: only the embedded ones.
gpu::ShaderOptions shader_options(const std::filesystem::path& folder,
                                  const std::vector<std::string>& compiler,
                                  SpirvOnDisk on_disk = SpirvOnDisk::Shared);

/// Lists on `log` the files that programs of `kernels` ("copy.comp") use from the folders of --shaders and
/// --versus-shaders. Throws Error if there are none: the run would then test other shaders than intended. If
/// `kernels` is empty nothing runs, and the rows say why. `timed`: rows are timed, so that the clock probe
/// and the ceilings count as used.
void check_shader_folders(const RunOptions& options, const std::set<gpu::KernelName>& kernels, bool timed,
                          std::ostream& log);

}  // namespace assay::app
