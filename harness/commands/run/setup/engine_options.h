#pragma once

#include "harness/commands/context.h"
#include "harness/commands/run_options.h"
#include "harness/engine/accuracy/answer_cache.h"
#include "harness/engine/run/device_context.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/run_info.h"
#include "harness/gpu/gpu.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// Whether SPIR-V is taken from the cache on disk that all runs share, and stored there.
enum class SpirvOnDisk : std::uint8_t { Shared, None };

/// Options for shaders from `folder` before the embedded ones; an empty path: only the embedded ones.
gpu::ShaderOptions shader_options(const std::filesystem::path& folder,
                                  const std::vector<std::string>& compiler,
                                  SpirvOnDisk on_disk = SpirvOnDisk::Shared);

/// Which files of a folder of shaders programs of `kernels` use, and the harness's own kernels. `timed`: as
/// for check_shader_folders().
gpu::Overrides files_used(const std::filesystem::path& folder, const std::set<gpu::KernelName>& kernels,
                          bool timed);

/// Lists on `log` the files that programs of `kernels` ("copy.comp") use from the folders of --shaders and
/// --versus-shaders. Throws Error if there are none: the run would then test other shaders than intended. If
/// `kernels` is empty nothing runs, and the rows say why. `timed`: rows are timed, so that the clock probe
/// and the ceilings count as used.
void check_shader_folders(const RunOptions& options, const std::set<gpu::KernelName>& kernels, bool timed,
                          std::ostream& log);

/// The rows of `cases` with these options, by group.
std::vector<PlannedGroup> planned_groups(const RunOptions& options, std::span<const Case* const> cases);

/// The names of the shader folders that a run's rows carry.
RowNames row_names(const RunOptions& options);

/// The engine's options for one device, from the command line. Timing tools and the other version of the
/// shaders are not set: the caller owns them.
DeviceRunOptions engine_options(const RunOptions& options, const gpu::Instance& instance,
                                const DeviceInfo& device, const std::function<bool()>& stop_requested);

/// Number of threads that prepare rows ahead if references may use `jobs` threads (0: as many as the CPU
/// has).
int preparing_threads(const RunOptions& options, int jobs);

/// Where references' answers are cached. They are not if the command line says so, if the build has changed
/// files, or if it does not know the hash of its references' code.
AnswerCacheOptions answer_cache_options(const RunOptions& options, const BuildInfo& build);

/// The command that compiles users' shaders (gpu::ShaderOptions::compiler); empty: this process does.
std::vector<std::string> shader_compiler(const RunOptions& options, const Context& context);

RunSettings run_settings(const RunOptions& options, const Context& context, const std::string& run_id);

}  // namespace assay::app
