#include "harness/app/disk_use.h"

#include <system_error>

namespace assay::app {

namespace fs = std::filesystem;

std::uintmax_t bytes_below(const fs::path& folder) {
  std::error_code error;
  std::uintmax_t bytes = 0;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (!fs::is_regular_file(at->symlink_status(ignored))) continue;
    const std::uintmax_t size = at->file_size(ignored);
    if (!ignored) bytes += size;  // it may have been renamed or removed meanwhile
  }
  return bytes;
}

std::optional<std::uintmax_t> free_bytes(const fs::path& path) {
  std::error_code error;
  const fs::space_info space = fs::space(path, error);
  return error ? std::nullopt : std::optional(space.available);
}

}  // namespace assay::app
