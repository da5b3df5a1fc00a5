#pragma once

#include "harness/base/child_process.h"
#include "harness/engine/supervision/worker_handle.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

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
