#include "harness/commands/run/setup/shader_folders.h"

#include "harness/base/error.h"
#include "harness/base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>
#include <vector>

namespace assay::app {
namespace {

constexpr std::size_t most_named = 12;

std::string names_text(std::vector<std::string> names) {
  const std::size_t all = names.size();
  names.resize(std::min(all, most_named));
  const std::string more = all > most_named ? fmt::format(" and {} more", all - most_named) : "";
  return fmt::format("{}{}", fmt::join(names, ", "), more);
}

std::vector<std::string> names_of(const std::set<gpu::KernelName>& kernels) {
  std::set<std::string> names;
  for (const auto& [name, folders] : kernels) names.insert(name);
  return {names.begin(), names.end()};
}

/// The shaders that the harness runs in addition to the rows' programs.
std::set<std::string> shaders_of_harness(const gpu::ShaderLibrary& library, bool timed) {
  std::set<std::string> names{"poison.comp", "difference.comp"};
  if (!timed) return names;
  names.insert("clock_probe.comp");
  for (const std::string& path : library.names()) {
    if (path.starts_with("ceilings/")) names.insert(path);
  }
  return names;
}

void check_folder(const std::string& option, const std::filesystem::path& folder,
                  const std::set<gpu::KernelName>& kernels, bool timed, std::ostream& log) {
  const gpu::ShaderLibrary library({.directories = {folder}, .cache_directory = {}});
  std::vector<gpu::KernelName> wanted(kernels.begin(), kernels.end());
  for (const std::string& name : shaders_of_harness(library, timed)) wanted.push_back({name, {}});
  const gpu::Overrides found = library.overrides(wanted);
  if (found.used.empty()) {
    throw Error(fmt::format(
        "taking shaders from {} '{}': none of its files is used. It holds: {}. The selected cases run: {}, "
        "and their includes; a kernel is found by its file name in any folder, an include by its path, as "
        "below shaders/ of the source tree",
        option, folder.string(), found.unused.empty() ? "no shaders" : names_text(found.unused),
        names_text(names_of(kernels))));
  }
  log << printable(
      fmt::format("shaders   from '{}': {}{}\n", folder.string(), fmt::join(found.used, ", "),
                  found.unused.empty() ? "" : fmt::format("; not used: {}", names_text(found.unused))));
}

}  // namespace

gpu::ShaderOptions shader_options(const std::filesystem::path& folder,
                                  const std::vector<std::string>& compiler, SpirvOnDisk on_disk) {
  gpu::ShaderOptions options{.cache_directory = {}, .compiler = compiler};
  if (on_disk == SpirvOnDisk::Shared) options.cache_directory = gpu::default_cache_directory();
  if (!folder.empty()) options.directories.push_back(folder);
  return options;
}

void check_shader_folders(const RunOptions& options, const std::set<gpu::KernelName>& kernels, bool timed,
                          std::ostream& log) {
  if (kernels.empty()) return;
  if (!options.shaders.empty()) check_folder("--shaders", options.shaders, kernels, timed, log);
  if (!options.versus_shaders.empty())
    check_folder("--versus-shaders", options.versus_shaders, kernels, false, log);
}

}  // namespace assay::app
