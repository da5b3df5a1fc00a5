#include "harness/commands/run/workers/worker_pipes.h"

#include "harness/base/error.h"
#include "harness/base/file.h"

#include <cerrno>
#include <iostream>
#include <unistd.h>
#include <utility>

namespace assay::app {
namespace {

/// Skips the exit handlers of drivers, some of which wait for a device that hangs.
[[noreturn]] void leave_without_supervisor() {
  ::_exit(static_cast<int>(ExitCode::Infrastructure));
}

}  // namespace

WorkerOutput::WorkerOutput() : fd_(::dup(STDOUT_FILENO)) {
  if (fd_ < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    throw_file_error("open the pipe to the supervisor", "stdout", errno);
}

WorkerOutput::~WorkerOutput() {
  ::close(fd_);
}

void WorkerOutput::line(std::string_view line) {
  text(std::string(line) + '\n');
}

void WorkerOutput::text(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (write_bytes(fd_, text) != text.size()) leave_without_supervisor();
}

WorkerInput::WorkerInput() {
  std::thread([this] { listen(); }).detach();  // it ends with the process, which may hang anywhere
}

void WorkerInput::listen() {
  std::string line;
  while (std::getline(std::cin, line)) take(line);
  leave_without_supervisor();
}

void WorkerInput::take(const std::string& line) {
  const bool is_stop = line == encode(WorkerRequest{StopRequest{}});
  {
    const std::lock_guard lock(mutex_);
    if (is_stop) {
      stop_ = true;
    } else {
      lines_.push_back(line);
    }
  }
  changed_.notify_all();
}

std::optional<WorkerRequest> WorkerInput::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stop_ || !lines_.empty(); });
  if (stop_) return std::nullopt;
  const std::string line = std::move(lines_.front());
  lines_.pop_front();
  lock.unlock();
  return decode_request(line);
}

}  // namespace assay::app
