#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace assay::test {

/// A new empty folder, removed with all that is in it at the end.
class TemporaryFolder {
 public:
  /// Throws std::runtime_error where none can be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  /// Writes a file, and the folders on the way to it; returns its path. A test fails where that cannot be
  /// done.
  std::filesystem::path write(std::string_view name, std::string_view text) const;
  /// The file's bytes; empty where there is none.
  std::string read(std::string_view name) const;
  /// `text` without this folder's own path: what a message says on every machine.
  std::string without_path(std::string text) const;

 private:
  std::filesystem::path path_;
};

/// The file's bytes; empty where there is none.
std::string read_file(const std::filesystem::path& file);

/// A test fails where the file cannot be written.
void write_file(const std::filesystem::path& file, std::string_view text);

}  // namespace assay::test
