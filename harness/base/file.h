#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace assay {

/// Owns a file descriptor and closes it.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return fd_; }
  /// Hands the descriptor to the caller, who must close it.
  int release() { return std::exchange(fd_, -1); }
  /// Closes the file now. False, with errno set, if the system could not write everything.
  bool close();

 private:
  int fd_;
};

inline constexpr std::size_t all_bytes = std::numeric_limits<std::size_t>::max();

/// Throws Error(Infrastructure) with "cannot <doing> <path>: <text of the system's error number>".
[[noreturn]] void throw_file_error(std::string_view doing, const std::filesystem::path& path,
                                   int error_number);

/// Returns all bytes of a file, or its first `most`; nothing, with errno set, if it cannot be read or is a
/// folder.
std::optional<std::string> whole_file(const std::filesystem::path& path, std::size_t most = all_bytes);

/// The same for an open file, pipe or socket, from its current position to its end.
std::optional<std::string> read_to_end(int fd, std::size_t most = all_bytes);

/// Calls `take` with each piece of a regular file, links followed, and returns whether all of it was read.
/// Anything else (a FIFO, a device, a folder) and a file of more than `most_bytes` is not read at all: that
/// could wait or go on for ever.
bool read_regular_file(const std::filesystem::path& path, std::uintmax_t most_bytes,
                       const std::function<void(std::string_view piece)>& take);

/// All bytes of a regular file, read in the same way; nothing if it is not read at all or not completely.
std::optional<std::string> whole_regular_file(const std::filesystem::path& path, std::uintmax_t most_bytes);

/// Writes all bytes to an open file, with a single write(2) where the system accepts that. Returns the number
/// of bytes written; if it is smaller than asked, errno says why.
std::size_t write_bytes(int fd, std::string_view bytes);

/// The user's folder for what can be made again, $XDG_CACHE_HOME/assay/NAME or ~/.cache/assay/NAME; empty if
/// neither variable says where that is.
std::filesystem::path cache_directory(std::string_view name);

/// What is in a folder, by name; as much as can be read, so nothing if there is no folder.
std::vector<std::filesystem::path> sorted_entries(const std::filesystem::path& folder);

/// Creates a folder and its parents. Throws Error(Infrastructure).
void make_directories(const std::filesystem::path& directory);

/// Writes a temporary file with a unique name next to `path` and renames it to `path`: readers see the old
/// file or the new one, never a partial one, even with several writers. A link at `path` is replaced, not
/// followed. On failure it throws Error(Infrastructure) and leaves no temporary file.
void replace_file(const std::filesystem::path& path, std::string_view content);

/// Replaces a file with what `write` streams, which is never in memory as a whole. If `write` throws, the
/// file stays as it is.
void replace_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);

/// Writes a file that a user named. Links are followed, and anything but a regular file (a device, a FIFO) is
/// written to instead of replaced.
void write_named_file(const std::filesystem::path& path, std::string_view content);

/// Opens /dev/null for each of stdin, stdout and stderr that is closed. Otherwise a file opened later could
/// get that descriptor and receive printed text. Call it before anything is opened.
void open_standard_descriptors();

/// Whether `path` is `folder` or below it, links resolved. Either may not exist yet.
bool is_inside(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Brings what is written to an open file to the disk (fdatasync), from a thread of its own, at most once per
/// interval and once more at the end. Writers do not wait; a power failure loses at most the last interval's
/// writes. If the system has no more threads, a writer waits once per interval instead.
class FileSync {
 public:
  /// `fd` stays the caller's and must stay open until this object is destroyed.
  FileSync(int fd, std::chrono::milliseconds every);
  /// Waits until everything written is on the disk.
  ~FileSync();
  FileSync(const FileSync&) = delete;
  FileSync& operator=(const FileSync&) = delete;

  /// Call this after each write.
  void written();
  /// The system's error number of the first failure; 0: none. A file that cannot be synced (pipe, device) is
  /// not a failure.
  int error() const { return error_; }

 private:
  void run(const std::stop_token& stop);
  void sync();
  void sync_if_due();

  int fd_;
  std::chrono::milliseconds every_;
  std::atomic<int> error_ = 0;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_dirty_ = false;
  std::chrono::steady_clock::time_point synced_{};  ///< when it last was, without a thread
  std::jthread thread_;
};

}  // namespace assay
