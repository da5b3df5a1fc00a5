#include "harness/report/journal/file_place.h"

#include "harness/base/error.h"
#include "harness/base/file.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace assay {
namespace {

namespace fs = std::filesystem;

}  // namespace

FilePlace::FilePlace(fs::path path, int fd) : path_(std::move(path)), fd_(fd) {
  struct stat open {};
  if (::fstat(fd, &open) != 0 || !S_ISREG(open.st_mode)) return;
  device_ = open.st_dev;
  number_ = open.st_ino;
  is_checked_ = names_the_file(path_);
}

/// An error other than that nothing is there (no permission, a network that is down) proves nothing.
bool FilePlace::names_the_file(const fs::path& path) const {
  struct stat at_path {};
  if (::lstat(path.c_str(), &at_path) != 0) return errno != ENOENT && errno != ENOTDIR;
  return at_path.st_dev == device_ && at_path.st_ino == number_;
}

/// Where the file is now; empty if it is nowhere.
fs::path FilePlace::path_now() const {
  std::error_code error;
  const fs::path path = fs::read_symlink(fmt::format("/proc/self/fd/{}", fd_), error);
  return !error && names_the_file(path) ? path : fs::path();
}

void FilePlace::copy_to(const fs::path& path) const {
  make_directories(path.parent_path());
  FileDescriptor copy(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (copy.get() < 0) throw_file_error("create", path, errno);
  std::array<char, 1 << 16> chunk{};
  off_t done = 0;
  while (true) {
    const ssize_t count = ::pread(fd_, chunk.data(), chunk.size(), done);
    if (count < 0) throw_file_error("read", path, errno);
    if (count == 0) break;
    const std::string_view piece(chunk.data(), static_cast<std::size_t>(count));
    if (write_bytes(copy.get(), piece) != piece.size()) throw_file_error("write", path, errno);
    done += count;
  }
  if (::fsync(copy.get()) != 0 || !copy.close()) throw_file_error("write", path, errno);
}

std::string FilePlace::rescue() const {
  if (const fs::path now = path_now(); !now.empty()) {
    return fmt::format(
        "was moved to {} while the run wrote it: the run ends here; move it back and resume it with `assay "
        "run --resume`, or read it where it is",
        now.string());
  }
  std::error_code error;
  const bool is_taken = fs::exists(fs::symlink_status(path_, error));
  const fs::path copy = is_taken ? fs::path(path_.string() + ".saved") : path_;
  try {
    copy_to(copy);
  } catch (const Error& failure) {
    return fmt::format("was removed while the run wrote it: the run ends here; its events are lost: {}",
                       failure.what());
  }
  if (is_taken) {
    return fmt::format(
        "was replaced by another file while the run wrote it: the run ends here; its events up to now are "
        "in {}, so move that back before `assay run --resume`",
        copy.string());
  }
  return "was removed while the run wrote it: the run ends here; its events up to now were written there "
         "again, so `assay run --resume` runs the rest";
}

}  // namespace assay
