#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace assay {

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
