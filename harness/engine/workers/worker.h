#pragma once

#include <string>
#include <string_view>

namespace assay {

/// A worker as its supervisor handles it: one process at a time.
class Worker {
 public:
  virtual ~Worker() = default;

  /// Starts a process; the one before has ended. Throws Error where the system cannot.
  virtual void start() = 0;
  /// Tells it a line (without its end). What it no longer takes is lost: it has ended, or will be found to
  /// hang.
  virtual void send(std::string_view line) = 0;
  /// SIGKILL. Its end is told when it has come.
  virtual void kill() = 0;
  /// The last lines that it wrote to stderr, for messages; empty: it wrote nothing.
  virtual std::string last_words() const = 0;
  /// "process 1234", for messages.
  virtual std::string name() const = 0;
};

/// "the worker exited with code 3; its last words: no such device", for messages.
std::string with_last_words(const std::string& what, const Worker& worker);

}  // namespace assay
