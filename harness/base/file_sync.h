#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace assay {

/// Has what is written to an open file brought to the disk (fdatasync) by a thread of its own, at most once
/// in a given time, and once more at the end. Who writes does not wait: a power failure costs what was
/// written in that time.
class FileSync {
 public:
  /// `fd` stays the caller's, and is open for longer than this lives.
  FileSync(int fd, std::chrono::milliseconds every);
  /// Waits until all that was written is on the disk.
  ~FileSync();
  FileSync(const FileSync&) = delete;
  FileSync& operator=(const FileSync&) = delete;

  /// To be told after each write.
  void written();
  /// The system's number for the first failure; 0: none. Files that cannot be synced (pipes, devices) do not
  /// fail.
  int error() const { return error_; }

 private:
  void run(const std::stop_token& stop);
  void sync();

  int fd_;
  std::chrono::milliseconds every_;
  std::atomic<int> error_ = 0;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_dirty_ = false;
  std::jthread thread_;
};

}  // namespace assay
