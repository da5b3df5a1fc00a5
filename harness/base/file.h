#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace assay {

/// An open file that closes itself.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return fd_; }
  /// Hands it to the caller, who closes it.
  int release() { return std::exchange(fd_, -1); }
  /// Closes now; false with errno set when the system could not write everything.
  bool close();

 private:
  int fd_;
};

/// Error(Infrastructure): "cannot <doing> <path>: <text of the system's error number>".
[[noreturn]] void throw_file_error(std::string_view doing, const std::filesystem::path& path,
                                   int error_number);

/// All bytes of a file; nothing, with errno set, when it cannot be read or is a folder.
std::optional<std::string> whole_file(const std::filesystem::path& path);

/// Writes all bytes to an open file: one write(2) where the system takes them at once. Returns the bytes
/// written; fewer than asked when it failed, errno says why.
std::size_t write_bytes(int fd, std::string_view bytes);

/// Creates a folder and those above it. Throws Error(Infrastructure).
void make_directories(const std::filesystem::path& directory);

/// Writes a file beside its place, under a name that nobody else has, and renames it: readers see the old one
/// or the new one, never a half, whoever else writes it. A link in its place is replaced, not followed.
/// Throws Error(Infrastructure) and leaves nothing behind when it fails.
void replace_file(const std::filesystem::path& path, std::string_view content);

/// The same of what `write` writes, which need not be in memory at once.
void replace_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);

/// The same for a file that a person names: links are followed, and what is no regular file (a device, a
/// FIFO) is written to, not replaced.
void write_named_file(const std::filesystem::path& path, std::string_view content);

/// Opens /dev/null in the place of each of stdin, stdout and stderr that is closed, so that no file opened
/// later gets its number and with it what is printed. To be called before anything is opened.
void open_standard_descriptors();

}  // namespace assay
