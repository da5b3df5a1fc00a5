#include "harness/commands/mutate/mutant.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/gpu/spirv/spirv_optimized.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

/// Mutants are compiled once, so nothing of them is kept, but other shaders of the same programs come again.
constexpr std::size_t most_cached_files = 400;

fs::path overlay_of(const Mutant::Folders& folders) {
  return folders.scratch / "overlay";
}

/// The folders in which the mutant's sources are found.
std::vector<fs::path> places(const Mutant::Folders& folders) {
  std::vector<fs::path> all{overlay_of(folders)};
  if (!folders.shaders.empty()) all.push_back(folders.shaders);
  return all;
}

std::vector<fs::path> written(const Mutant::Folders& folders, const std::string& file,
                              const std::string& text) {
  const fs::path path = overlay_of(folders) / file;
  std::error_code ignored;
  fs::remove_all(overlay_of(folders), ignored);
  make_directories(path.parent_path());
  write_named_file(path, text);
  return places(folders);
}

fs::path cache_in(const fs::path& scratch) {
  fs::path cache = scratch / "spirv";
  std::error_code ignored;
  const auto files = std::distance(fs::directory_iterator(cache, ignored), fs::directory_iterator());
  if (static_cast<std::size_t>(files) > most_cached_files) fs::remove_all(cache, ignored);
  make_directories(cache);
  return cache;
}

/// The folders of a kernel from outside, before each the one of the overlay that stands for it.
std::vector<fs::path> overlaid(const Mutant::Folders& folders, const std::vector<fs::path>& brought) {
  std::vector<fs::path> all;
  for (const fs::path& folder : brought) {
    all.push_back(overlay_of(folders) / folder.lexically_relative(folders.shaders));
    all.push_back(folder);
  }
  return all;
}

}  // namespace

Mutant::Mutant(const Folders& folders, const std::string& file, const std::string& text,
               gpu::ShaderLibrary& without_fault)
    : folders_(folders),
      file_(overlay_of(folders) / file),
      without_fault_(without_fault),
      sources_(written(folders, file, text), gpu::embedded_shaders()),
      shaders_({.directories = places(folders), .cache_directory = cache_in(folders.scratch)}) {}

void Mutant::take_into(Program& program) const {
  for (Dispatch& dispatch : program.dispatches) {
    if (dispatch.external) dispatch.external->folders = overlaid(folders_, dispatch.external->folders);
  }
}

bool Mutant::uses_file(const ShaderVariant& variant) {
  const auto [place, is_new] = uses_file_.try_emplace(variant.shader, false);
  if (is_new) {
    const auto is_it = [&](const auto& entry) {
      return !entry.second.is_embedded && fs::path(entry.second.display).lexically_normal() == file_;
    };
    place->second =
        std::ranges::any_of(sources_.closure(variant.shader, overlaid(folders_, variant.folders)), is_it);
  }
  return place->second;
}

bool Mutant::differs(const ShaderVariant& variant) {
  if (!uses_file(variant)) return false;
  const auto known = differs_.find(variant);
  if (known != differs_.end()) return known->second;
  const std::vector<std::uint32_t>& before = compiled_without_fault(variant);
  const bool differs =
      gpu::without_debug_information(compiled(variant)) != gpu::without_debug_information(before);
  return differs_.emplace(variant, differs).first->second;
}

const std::vector<std::uint32_t>& Mutant::compiled(const ShaderVariant& variant) {
  return shaders_.compile(variant.shader, variant.defines, overlaid(folders_, variant.folders)).words;
}

/// An error here is no fault's.
const std::vector<std::uint32_t>& Mutant::compiled_without_fault(const ShaderVariant& variant) {
  try {
    return without_fault_.compile(variant.shader, variant.defines, variant.folders).words;
  } catch (const gpu::CompileError& error) {
    throw Error(
        fmt::format("trying faults: {} does not compile without any fault: {}", variant.shader, error.what()),
        ExitCode::Usage);
  }
}

bool Mutant::changes(const std::vector<ShaderVariant>& variants) {
  return std::ranges::any_of(variants, [&](const ShaderVariant& variant) { return differs(variant); });
}

bool Mutant::changes_optimized() {
  return std::ranges::any_of(differs_, [&](const auto& entry) {
    const auto& [variant, differs] = entry;
    const auto [place, is_new] = differs_optimized_.try_emplace(variant, false);
    if (differs && is_new) {
      // The optimizer does not know KHR's matrices.
      ShaderVariant known = variant;
      known.defines = without_khr_matrices(std::move(known.defines));
      place->second = gpu::optimized(compiled(known)) != gpu::optimized(compiled_without_fault(known));
    }
    return place->second;
  });
}

}  // namespace assay::app
