#include "harness/base/file.h"

#include "harness/base/error.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace assay {

FileDescriptor::~FileDescriptor() {
  close();
}

bool FileDescriptor::close() {
  if (fd_ < 0) return true;
  const bool closed = ::close(fd_) == 0;
  fd_ = -1;
  return closed;
}

void throw_file_error(std::string_view doing, const std::filesystem::path& path, int error_number) {
  const std::string why = std::generic_category().message(error_number);
  throw Error("cannot " + std::string(doing) + " " + path.string() + ": " + why, ExitCode::Infrastructure);
}

std::size_t write_bytes(int fd, std::string_view bytes) {
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = ::write(fd, bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    written += static_cast<std::size_t>(count);
  }
  return written;
}

void make_directories(const std::filesystem::path& directory) {
  if (directory.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw_file_error("create the folder", directory, error.value());
  // create_directories is content with whatever stands there already.
  if (!std::filesystem::is_directory(directory, error))
    throw_file_error("create the folder", directory, ENOTDIR);
}

void replace_file(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::path temporary = path;
  temporary += ".tmp";
  FileDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.get() < 0) throw_file_error("create", temporary, errno);
  // Some file systems tell only when a file is closed that the disk is full.
  const bool replaced = write_bytes(file.get(), content) == content.size() && file.close() &&
                        std::rename(temporary.c_str(), path.c_str()) == 0;
  if (replaced) return;
  const int error = errno;
  ::unlink(temporary.c_str());
  throw_file_error("write", path, error);
}

}  // namespace assay
