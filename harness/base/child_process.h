#pragma once

#include "harness/base/file.h"

#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace assay {

/// Says how a process ended.
struct ChildEnd {
  int exit_code = 0;
  int signal = 0;  ///< the signal that ended the process; 0: it exited by itself

  /// Returns `signal`, or for a shell the signal that ended its command, which its exit code encodes; 0:
  /// none.
  int any_signal() const {
    return signal == 0 && exit_code > 128 && exit_code < 192 ? exit_code - 128 : signal;
  }
};

/// Returns text such as "exited with code 3", "exited with code 137, the shell's code for SIGKILL" or "was
/// ended by SIGSEGV (Segmentation fault)".
std::string to_string(const ChildEnd& end);

/// Runs a child process with pipes to its stdin, stdout and stderr. It leads a process group, so that the
/// terminal's Ctrl-C does not reach it and a kill reaches everything it has started.
class ChildProcess {
 public:
  /// Environment variables that a process has where ours are not set.
  using Environment = std::map<std::string, std::string>;

  /// Starts command[0], searched for in PATH. Throws Error(Infrastructure) if the system cannot start it.
  explicit ChildProcess(const std::vector<std::string>& command, const Environment& unless_set = {});
  /// Kills the process if it still runs. Does not wait for a process that even SIGKILL does not end.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// The process's stdout and stderr. Reading them never blocks.
  int output() const { return output_.get(); }
  int errors() const { return errors_.get(); }

  /// Writes the text to the process's stdin and waits a few seconds at most. False if not all was accepted.
  bool send(std::string_view text);
  void kill();

  /// Returns how the process ended, or nothing while it runs. Never waits.
  std::optional<ChildEnd> end();

 private:
  ChildProcess(const std::vector<std::string>& command, const Environment& unless_set,
               std::vector<int> pipes);

  FileDescriptor input_;
  FileDescriptor output_;
  FileDescriptor errors_;
  pid_t pid_ = 0;
  std::optional<ChildEnd> end_;
};

/// Returns the words that run a command line through the shell.
std::vector<std::string> shell_command(const std::string& line);

}  // namespace assay
