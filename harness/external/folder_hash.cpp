#include "harness/external/folder_hash.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/source_hash.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <system_error>

namespace assay::external {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 10'000;
constexpr std::uintmax_t most_bytes = std::uintmax_t{256} << 20;

/// What programs leave in a folder: caches, version control, reports.
bool is_no_part(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name == "__pycache__" || name == "assay-out";
}

/// The files below a folder by their paths in it, sorted.
std::map<std::string, fs::path> files_below(const fs::path& folder) {
  std::map<std::string, fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (is_no_part(at->path())) {
      at.disable_recursion_pending();
      continue;
    }
    if (at->is_symlink(gone) && at->is_directory(gone)) {
      throw Error(
          fmt::format("reading the folder of an op: '{}' is a link to a folder, and those are not followed: "
                      "copy the folder, or link its files",
                      at->path().string()));
    }
    if (!at->is_regular_file(gone)) continue;
    files.emplace(at->path().lexically_relative(folder).generic_string(), at->path());
    if (files.size() > most_files) {
      throw Error(fmt::format("reading the folder of an op: '{}' has more than {} files", folder.string(),
                              most_files));
    }
  }
  if (error)
    throw Error(fmt::format("reading the folder of an op: '{}': {}", folder.string(), error.message()));
  return files;
}

}  // namespace

std::string folder_hash(const fs::path& folder) {
  std::string all;
  std::uintmax_t bytes = 0;
  for (const auto& [name, path] : files_below(folder)) {
    const std::optional<std::string> content = whole_regular_file(path, most_bytes);
    if (content) bytes += content->size();
    if (!content || bytes > most_bytes) {
      throw Error(
          fmt::format("reading the folder of an op: '{}' cannot be read, or the folder has more than {} MiB",
                      path.string(), most_bytes >> 20U));
    }
    all += fmt::format("{} {} {}\n", name, content->size(), source_hash(*content));
  }
  return source_hash(all);
}

}  // namespace assay::external
