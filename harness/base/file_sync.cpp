#include "harness/base/file_sync.h"

#include <cerrno>
#include <unistd.h>

namespace assay {

FileSync::FileSync(int fd, std::chrono::milliseconds every)
    : fd_(fd), every_(every), thread_([this](const std::stop_token& stop) { run(stop); }) {}

FileSync::~FileSync() {
  thread_.request_stop();
  thread_.join();
}

void FileSync::written() {
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

void FileSync::sync() {
  if (::fdatasync(fd_) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP) return;
  int none = 0;
  error_.compare_exchange_strong(none, errno);
}

}  // namespace assay
