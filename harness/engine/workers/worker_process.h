#pragma once

#include "harness/base/child_process.h"
#include "harness/engine/workers/worker.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A worker that is a process of this machine, be it `ssh` to another.
class WorkerProcess final : public Worker {
 public:
  /// `errors` is told what it writes to stderr, in lines, as far as that is not too much to read; may be
  /// empty.
  explicit WorkerProcess(std::vector<std::string> command, std::function<void(std::string_view)> errors = {});

  void start() override;
  void send(std::string_view line) override;
  void kill() override;
  std::string last_words() const override;
  std::string name() const override;

  /// What poll(2) is to wait for; nothing while no process runs.
  void wait_for(std::vector<pollfd>& list) const;

  /// Reads what it has written; each whole line goes to `line`, which may kill it. Its end, once it has come
  /// and all that it wrote was read; told once.
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
  std::string unfinished_;  ///< of stdout: a line without its end
  std::string newest_errors_;
  std::string unfinished_errors_;  ///< of stderr: a line without its end
  std::size_t shown_bytes_ = 0;
  bool output_ended_ = false;
  bool errors_ended_ = false;
};

}  // namespace assay
