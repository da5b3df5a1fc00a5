#include "harness/commands/run/file_watch.h"

#include "harness/base/file.h"
#include "harness/base/hash.h"

#include <optional>
#include <system_error>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> hash_of_file(const fs::path& file) {
  const std::optional<std::string> text = whole_file(file);
  return text ? std::optional(hash_hex(*text)) : std::nullopt;
}

}  // namespace

void FileWatch::watch(std::span<const fs::path> files_or_folders) {
  roots_.assign(files_or_folders.begin(), files_or_folders.end());
  const Contents now = look();
  for (const auto& [file, content] : now) known_.try_emplace(file, content);
  std::erase_if(known_, [&](const auto& known) { return !now.contains(known.first); });
}

std::vector<fs::path> FileWatch::changed() {
  Contents now = look();
  std::vector<fs::path> files;
  for (const auto& [file, content] : now) {
    const auto before = known_.find(file);
    if (before == known_.end() || before->second.hash != content.hash) files.push_back(file);
  }
  for (const auto& [file, content] : known_) {
    if (!now.contains(file)) files.push_back(file);
  }
  known_ = std::move(now);
  return files;
}

FileWatch::Contents FileWatch::look() const {
  Contents seen;
  for (const fs::path& root : roots_) {
    std::error_code error;
    if (!fs::is_directory(root, error)) {
      add(root, seen);
      continue;
    }
    // Files may come and go while a folder is read: a file that is missed now is seen the next time.
    for (fs::recursive_directory_iterator at(root, error), end; !error && at != end; at.increment(error))
      add(at->path(), seen);
  }
  return seen;
}

void FileWatch::add(const fs::path& file, Contents& seen) const {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return;
  Content content{.time = fs::last_write_time(file, error)};
  if (!error) content.size = fs::file_size(file, error);
  if (error) return;
  const auto known = known_.find(file);
  const bool same =
      known != known_.end() && known->second.time == content.time && known->second.size == content.size;
  const std::optional<std::string> hash = same ? known->second.hash : hash_of_file(file);
  if (!hash) return;
  content.hash = *hash;
  seen.emplace(file, std::move(content));
}

}  // namespace assay::app
