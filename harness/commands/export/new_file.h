#pragma once

#include <filesystem>

namespace assay::app {

/// A file that is written under a temporary name next to its own, and gets its own when it is complete:
/// readers see the old file or the new one, never a part. For what can only be written by its path;
/// replace_file() (file.h) is simpler.
class NewFile {
 public:
  /// Creates the temporary file, empty. Throws Error(Infrastructure).
  explicit NewFile(std::filesystem::path path);
  /// Removes the temporary file if it was not kept.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::filesystem::path& temporary() const { return temporary_; }
  /// Gives the file its name; an older one is replaced. Throws Error(Infrastructure).
  void keep();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;  ///< empty: kept
};

}  // namespace assay::app
