#pragma once

#include "harness/base/file.h"

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace assay {

/// How a process ended.
struct ChildEnd {
  int exit_code = 0;
  int signal = 0;  ///< that ended it; 0: it exited by itself

  /// The same, and where it is a shell the signal that ended its command, as its exit code says; 0: none.
  int any_signal() const {
    return signal == 0 && exit_code > 128 && exit_code < 192 ? exit_code - 128 : signal;
  }
};

/// "exited with code 3", "exited with code 137, a shell's for SIGKILL", "was ended by SIGSEGV (Segmentation
/// fault)".
std::string to_string(const ChildEnd& end);

/// A process of our own with pipes to its stdin, stdout and stderr. It leads a process group, so that the
/// terminal's Ctrl-C does not reach it, and that it is killed with all that it has started.
class ChildProcess {
 public:
  /// Starts command[0], looked for in PATH. Throws Error(Infrastructure) where the system cannot.
  explicit ChildProcess(const std::vector<std::string>& command);
  /// Kills what still runs. Does not wait for a process that even SIGKILL does not end.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// Its stdout and stderr; reading them never blocks.
  int output() const { return output_.get(); }
  int errors() const { return errors_.get(); }

  /// Writes all to its stdin, for which it waits at most a few seconds; false where it takes no more.
  bool send(std::string_view text);
  void close_input() { input_.close(); }
  void kill();

  /// Its end, once it has come; it is asked for without waiting.
  std::optional<ChildEnd> end();

 private:
  ChildProcess(const std::vector<std::string>& command, std::vector<int> pipes);

  FileDescriptor input_;
  FileDescriptor output_;
  FileDescriptor errors_;
  pid_t pid_ = 0;
  std::optional<ChildEnd> end_;
};

/// The words of a command line as a shell would run them.
std::vector<std::string> shell_command(const std::string& line);

}  // namespace assay
