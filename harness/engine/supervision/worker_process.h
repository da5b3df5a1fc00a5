#pragma once

#include "harness/base/child_process.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <vector>

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

/// The end of what a process wrote to stderr, short enough for a message: whole lines of the last 600 bytes.
/// If none of these names an error, the last earlier line that does comes first: libraries that abort say
/// why, and then dump what they were at.
std::string last_lines(std::string_view text);

/// A worker that is a process on this machine, possibly `ssh` to another machine.
class WorkerProcess final : public Worker {
 public:
  /// `errors` gets the lines that the process writes to stderr, up to a limit; may be empty.
  explicit WorkerProcess(std::vector<std::string> command, std::function<void(std::string_view)> errors = {});

  void start() override;
  void send(std::string_view line) override;
  void kill() override;
  std::string last_words() const override;
  std::string name() const override;

  /// Adds the file descriptors that poll(2) has to wait for; none while no process runs.
  void wait_for(std::vector<pollfd>& list) const;

  /// Reads the process's output and passes each whole line to `line`, which may kill the process. Returns its
  /// end once, after it has ended and all output was read.
  std::optional<ChildEnd> read(const std::function<void(std::string_view)>& line);

 private:
  bool read_output(const std::function<void(std::string_view)>& line);
  bool read_errors();
  void take_errors(std::string_view text);
  void show_errors(std::string_view text);

  std::vector<std::string> command_;
  std::function<void(std::string_view)> errors_;
  std::unique_ptr<ChildProcess> process_;
  pid_t pid_ = 0;
  std::string unfinished_;  ///< incomplete last line of stdout
  std::string newest_errors_;
  std::string unfinished_errors_;  ///< incomplete last line of stderr
  std::size_t shown_bytes_ = 0;
  bool output_ended_ = false;
  bool errors_ended_ = false;
};

}  // namespace assay
