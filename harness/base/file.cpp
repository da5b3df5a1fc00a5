#include "harness/base/file.h"

#include "harness/base/error.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <ostream>
#include <streambuf>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;  ///< a chain of links, Linux's own limit
/// A temporary file's name adds to the stem of its target; this limit keeps it within the system's limit.
constexpr std::size_t longest_stem = 200;

/// Returns whether the path names an entry of a process's open files (/proc/.../fd), next to which no file
/// can be created.
bool is_link_of_process(const fs::path& path) {
  return path.string().starts_with("/proc/");
}

/// Follows links to links. The final target need not exist.
fs::path link_target(fs::path path) {
  std::error_code error;
  for (int links = 0; links < most_links && !is_link_of_process(path); ++links) {
    const fs::path target = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;
  }
  return path;
}

/// Creates a file next to `path` under a name that no other process or thread uses.
int open_temporary(const fs::path& path, fs::path& temporary) {
  static std::atomic<unsigned> count = 0;
  const std::string stem = path.filename().string().substr(0, longest_stem);
  int fd = -1;
  do {
    temporary = path.parent_path() /
                (stem + '.' + std::to_string(::getpid()) + '-' + std::to_string(count.fetch_add(1)) + ".tmp");
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  } while (fd < 0 && errno == EEXIST);
  if (fd < 0) throw_file_error("create", path, errno);
  return fd;
}

constexpr std::size_t chunk_bytes = 1 << 16;

/// Reads up to a chunk. Returns the number of bytes; 0 at the end, -1 with errno set if reading fails.
ssize_t read_some(int fd, std::array<char, chunk_bytes>& chunk) {
  while (true) {
    const ssize_t count = ::read(fd, chunk.data(), chunk.size());
    if (count >= 0 || errno != EINTR) return count;
  }
}

/// A stream buffer that writes to a file.
class WritingBuffer final : public std::streambuf {
 public:
  explicit WritingBuffer(int fd) : fd_(fd) { setp(bytes_.data(), bytes_.data() + bytes_.size()); }
  /// The system's error number of the failed write.
  int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override {
    if (!send()) return traits_type::eof();
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    return sputc(traits_type::to_char_type(c));
  }
  int sync() override { return send() ? 0 : -1; }
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    if (count < epptr() - pptr()) return std::streambuf::xsputn(text, count);
    const bool sent = send() && write_all({text, static_cast<std::size_t>(count)});
    return sent ? count : 0;
  }

 private:
  bool send() {
    const bool sent = write_all({pbase(), static_cast<std::size_t>(pptr() - pbase())});
    setp(bytes_.data(), bytes_.data() + bytes_.size());
    return sent;
  }
  bool write_all(std::string_view text) {
    if (write_bytes(fd_, text) == text.size()) return true;
    error_ = errno;
    return false;
  }

  int fd_;
  int error_ = 0;
  std::array<char, chunk_bytes> bytes_{};
};

}  // namespace

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

std::optional<std::string> read_to_end(int fd, std::size_t most) {
  std::string bytes;
  struct stat status {};
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
    bytes.reserve(std::min(most, static_cast<std::size_t>(status.st_size)));
  std::array<char, chunk_bytes> chunk;
  while (bytes.size() < most) {
    const ssize_t count = read_some(fd, chunk);
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    bytes.append(chunk.data(), std::min(static_cast<std::size_t>(count), most - bytes.size()));
  }
  return bytes;
}

std::optional<std::string> whole_file(const fs::path& path, std::size_t most) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return std::nullopt;
  return read_to_end(file.get(), most);
}

bool read_regular_file(const fs::path& path, std::uintmax_t most_bytes,
                       const std::function<void(std::string_view piece)>& take) {
  // Without O_NONBLOCK the open itself would wait for the writer of a FIFO.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (static_cast<std::uintmax_t>(status.st_size) > most_bytes) return false;
  std::uintmax_t left = most_bytes;  // the file may grow meanwhile
  std::array<char, chunk_bytes> chunk;
  while (true) {
    const ssize_t count = read_some(file.get(), chunk);
    if (count <= 0) return count == 0;
    if (static_cast<std::uintmax_t>(count) > left) return false;
    left -= static_cast<std::uintmax_t>(count);
    take({chunk.data(), static_cast<std::size_t>(count)});
  }
}

std::optional<std::string> whole_regular_file(const fs::path& path, std::uintmax_t most_bytes) {
  std::string bytes;
  const auto take = [&](std::string_view piece) { bytes += piece; };
  return read_regular_file(path, most_bytes, take) ? std::optional(std::move(bytes)) : std::nullopt;
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

fs::path cache_directory(std::string_view name) {
  const char* const xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg != nullptr && fs::path(xdg).is_absolute())  // the XDG specification ignores relative ones
    return fs::path(xdg) / "assay" / name;
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return fs::path(home) / ".cache" / "assay" / name;
}

std::vector<std::filesystem::path> sorted_entries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> entries;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    entries.push_back(entry->path());
  }
  std::ranges::sort(entries);
  return entries;
}

void make_directories(const std::filesystem::path& directory) {
  if (directory.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw_file_error("create the folder", directory, error.value());
  // create_directories succeeds if anything already exists there, even a file.
  if (!std::filesystem::is_directory(directory, error))
    throw_file_error("create the folder", directory, ENOTDIR);
}

void replace_file(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  fs::path temporary;
  FileDescriptor file(open_temporary(path, temporary));
  errno = 0;
  WritingBuffer buffer(file.get());
  std::ostream stream(&buffer);
  try {
    write(stream);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  stream.flush();
  // Some file systems report a full disk only when the file is closed.
  const bool replaced = stream && file.close() && std::rename(temporary.c_str(), path.c_str()) == 0;
  if (replaced) return;
  const int error = stream ? errno : buffer.error();
  ::unlink(temporary.c_str());
  throw_file_error("write", path, error);
}

void replace_file(const fs::path& path, std::string_view content) {
  replace_file(path, [content](std::ostream& out) {
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
  });
}

void write_named_file(const fs::path& path, std::string_view content) {
  const fs::path target = link_target(path);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const bool is_file = fs::is_regular_file(status) || status.type() == fs::file_type::not_found;
  if (is_file && !is_link_of_process(target)) return replace_file(target, content);
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC));
  if (file.get() < 0) throw_file_error("open", path, errno);
  if (write_bytes(file.get(), content) != content.size() || !file.close())
    throw_file_error("write", path, errno);
}

void open_standard_descriptors() {
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDWR);
  if (fd > STDERR_FILENO) ::close(fd);
}

bool is_inside(const std::filesystem::path& path, const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  const fs::path below =
      fs::weakly_canonical(fs::absolute(path)).lexically_relative(fs::weakly_canonical(fs::absolute(folder)));
  return !below.empty() && *below.begin() != "..";
}

FileSync::FileSync(int fd, std::chrono::milliseconds every) : fd_(fd), every_(every) {
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error&) {
    // The system has no more threads: written() syncs.
  }
}

FileSync::~FileSync() {
  if (!thread_.joinable()) {
    if (is_dirty_) sync();
    return;
  }
  thread_.request_stop();
  thread_.join();
}

void FileSync::written() {
  if (!thread_.joinable()) return sync_if_due();
  {
    const std::lock_guard lock(mutex_);
    is_dirty_ = true;
  }
  changed_.notify_one();
}

void FileSync::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  // After a stop request the wait ends and still returns true if something was written before it.
  while (changed_.wait(lock, stop, [this] { return is_dirty_; })) {
    is_dirty_ = false;
    lock.unlock();
    sync();
    lock.lock();
    changed_.wait_for(lock, stop, every_, [] { return false; });
  }
}

void FileSync::sync_if_due() {
  const auto now = std::chrono::steady_clock::now();
  is_dirty_ = now - synced_ < every_;
  if (is_dirty_) return;
  sync();
  synced_ = now;
}

void FileSync::sync() {
  if (::fdatasync(fd_) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP) return;
  int none = 0;
  error_.compare_exchange_strong(none, errno);
}

}  // namespace assay
