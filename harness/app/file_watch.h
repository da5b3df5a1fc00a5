#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// Notices when files are saved: by their time and size, then by their content, so that a save that changes
/// nothing is none. It looks when it is asked; it needs no service of the system.
class FileWatch {
 public:
  /// Watches these files, and all files below these folders, those that are yet to come too.
  void watch(std::span<const std::filesystem::path> files_or_folders);

  /// The files whose content changed, that came or went, since it was asked last (or since they are
  /// watched). A file that cannot be read is as good as gone.
  std::vector<std::filesystem::path> changed();

 private:
  struct Content {
    std::filesystem::file_time_type time;
    std::uintmax_t size = 0;
    std::string hash;
  };
  using Contents = std::map<std::filesystem::path, Content>;

  Contents look() const;
  void add(const std::filesystem::path& file, Contents& seen) const;

  std::vector<std::filesystem::path> roots_;
  Contents known_;
};

}  // namespace assay::app
