#pragma once

#include "harness/base/child_process.h"
#include "harness/base/clock.h"
#include "harness/commands/mutate/trial_protocol.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {

/// How a fault ended in a process.
struct TrialOutcome {
  FaultResult result;
  std::vector<std::size_t> killers;  ///< the rows of result.kills
  /// The process ended, perhaps because of what an earlier fault did to its memory: a new one decides.
  bool is_open = false;
};

/// A process that tries one fault after another (serve_trials).
class TrialProcess {
 public:
  struct Limits {
    double row_s = 0;      ///< of a row
    double between_s = 0;  ///< of everything between rows: loading, compiling
  };

  /// `fingerprint`: the rows must be numbered as here.
  TrialProcess(const std::vector<std::string>& command, const TrialSetup& setup, std::string fingerprint,
               const Limits& limits);

  /// Begins a fault; the process may still be starting. At most one at a time.
  void begin(const TrialRequest& request);
  /// Reads what the process has written. Returns how the fault ended. Throws Error(Infrastructure) if the
  /// process ends before it can try faults.
  std::optional<TrialOutcome> poll();

  bool is_busy() const { return is_busy_; }
  /// It has ended or was killed: another one must take its place.
  bool is_gone() const { return is_gone_; }
  int output() const { return process_.output(); }

 private:
  void read();
  std::optional<TrialOutcome> take_lines();
  std::optional<TrialOutcome> take(const TrialNews& news);
  std::optional<TrialOutcome> ended(bool is_hanging);
  bool hangs() const;
  void send_request();

  ChildProcess process_;
  std::string fingerprint_;
  Limits limits_;
  std::string unread_;
  std::string unsent_;  ///< the request, while the process is starting
  std::string errors_;  ///< the end of what it wrote to stderr
  bool is_ready_ = false;
  bool is_busy_ = false;
  bool is_gone_ = false;
  bool has_tried_one_ = false;
  TrialOutcome now_;  ///< of the fault that is being tried
  std::optional<std::size_t> row_;
  double heard_s_ = steady_seconds();
};

}  // namespace assay::app
