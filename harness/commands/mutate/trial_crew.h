#pragma once

#include "harness/commands/mutate/trial_process.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {

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
