#pragma once

#include "harness/engine/accuracy/accuracy.h"

#include <functional>
#include <span>
#include <string>

namespace assay {

/// How a row is run again and again.
struct ReplayOptions {
  int runs = 0;
  double timeout_s = 0;                  ///< of the programs that keep the device busy
  std::function<bool()> stop_requested;  ///< true ends the replay; may be empty
};

/// Runs a judged case that many times, each in new device memory with the same inputs and the same poison:
/// the first half on a device that the program has kept busy, the second half on one that rested before each
/// run, as drivers exist whose answers follow the power state. Each different answer is judged once by
/// `accepted`; if that is empty (chains), an answer is right if it equals `judged`, which must be right then.
/// The answers include `judged`, that of the run before, which counts as no run. Throws what
/// Experiment::run() throws.
Replay replay(Experiment& experiment, const Answer& judged, std::span<const Acceptance> accepted,
              const ReplayOptions& options);

}  // namespace assay
