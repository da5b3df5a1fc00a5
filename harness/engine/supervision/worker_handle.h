#pragma once

#include <string>
#include <string_view>

namespace assay {

/// A worker as its supervisor sees it: one process at a time.
class Worker {
 public:
  virtual ~Worker() = default;

  /// Starts a process; the previous one must have ended. Throws Error if the system cannot start it.
  virtual void start() = 0;
  /// Sends a line (without a line end). It is dropped if the process no longer reads: then it has ended, or
  /// will be found to hang.
  virtual void send(std::string_view line) = 0;
  /// Sends SIGKILL. The end of the process is reported when it has happened.
  virtual void kill() = 0;
  /// The last lines that the process wrote to stderr, for messages; empty: it wrote nothing.
  virtual std::string last_words() const = 0;
  /// The worker's name in messages: "process 1234".
  virtual std::string name() const = 0;
};

/// `what` with the worker's last words appended: "the worker exited with code 3; its last words: no such
/// device".
std::string with_last_words(const std::string& what, const Worker& worker);

}  // namespace assay
