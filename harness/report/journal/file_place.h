#pragma once

#include <filesystem>
#include <string>
#include <sys/types.h>

namespace assay {

/// Whether a file that is being written is still where it was opened: someone may move or remove it, or a
/// folder above it, meanwhile.
class FilePlace {
 public:
  /// `fd` is the open file, which must be readable; it stays the caller's. A file that is not a regular one,
  /// and a file system on which an open file cannot be recognized by its path, are not checked.
  FilePlace(std::filesystem::path path, int fd);

  /// Whether the path still names the open file.
  bool has_file() const { return !is_checked_ || names_the_file(path_); }

  /// To be called when it does not. If the file is gone for good, writes its content to its path again, or
  /// next to it if another file is there. Returns what happened and what to do, for a sentence that begins
  /// with the file's name.
  std::string rescue() const;

 private:
  bool names_the_file(const std::filesystem::path& path) const;
  std::filesystem::path path_now() const;
  void copy_to(const std::filesystem::path& path) const;

  std::filesystem::path path_;
  int fd_;
  dev_t device_ = 0;
  ino_t number_ = 0;  ///< of the open file, on its device
  bool is_checked_ = false;
};

}  // namespace assay
