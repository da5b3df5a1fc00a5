#include "harness/base/file_sync.h"

#include <cerrno>
#include <system_error>
#include <unistd.h>

namespace assay {

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
