#pragma once

#include "harness/base/child_process.h"
#include "harness/base/clock.h"
#include "harness/commands/mutate/trial_worker.h"

#include <cstddef>
#include <memory>
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

/// The processes that try faults, several at a time. One that has ended is replaced when it is needed.
class TrialCrew {
 public:
  struct Parts {
    std::vector<std::string> command;
    TrialSetup setup;  ///< scratch: the folder below which each process has its own
    std::string fingerprint;
    TrialProcess::Limits limits;
    std::size_t processes = 1;
  };
  struct Finished {
    std::size_t fault = 0;
    TrialOutcome outcome;
  };

  explicit TrialCrew(Parts parts);

  bool has_room() const;
  bool is_idle() const;
  /// Requires room.
  void begin(std::size_t fault, TrialRequest request);
  /// The faults that have ended; waits up to `seconds` for one. Throws what TrialProcess::poll() throws.
  std::vector<Finished> wait(double seconds);

 private:
  struct Place {
    std::unique_ptr<TrialProcess> process;
    std::optional<std::size_t> fault;
    TrialRequest request;
    std::optional<TrialOutcome>
        unconfirmed;  ///< ended by a crash or a hang; its row runs without the fault now
    std::size_t number = 0;
  };

  void start(Place& place);
  void begin_in(Place& place, const TrialRequest& request);
  /// What ends the place's fault, if it has: a crash or a hang counts when the row passes without the fault.
  std::optional<TrialOutcome> concluded(Place& place, TrialOutcome outcome);
  void wait_for_output(double seconds) const;

  Parts parts_;
  std::vector<Place> places_;
};

}  // namespace assay::app
