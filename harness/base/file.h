#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace assay {

/// An open file that closes itself.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return fd_; }
  /// Closes now; false with errno set when the system could not write everything.
  bool close();

 private:
  int fd_;
};

/// Error(Infrastructure): "cannot <doing> <path>: <text of the system's error number>".
[[noreturn]] void throw_file_error(std::string_view doing, const std::filesystem::path& path,
                                   int error_number);

/// Writes all bytes to an open file: one write(2) where the system takes them at once. Returns the bytes
/// written; fewer than asked when it failed, errno says why.
std::size_t write_bytes(int fd, std::string_view bytes);

/// Creates a folder and those above it. Throws Error(Infrastructure).
void make_directories(const std::filesystem::path& directory);

/// Writes a file beside its place and renames it: readers see the old one or the new one, never a half.
/// Throws Error(Infrastructure) and leaves nothing behind when it fails.
void replace_file(const std::filesystem::path& path, std::string_view content);

}  // namespace assay
