#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace assay {

/// Says what a process that runs rows is doing, so that reports can say where it hung or crashed.
enum class Phase : std::uint8_t {
  Start,      ///< loads cases, opens the device
  Ceilings,   ///< measures the device's ceilings
  Host,       ///< anything else on the CPU: packing, comparing, filling
  Reference,  ///< the reference computes, on the CPU
  Compile,    ///< GLSL to SPIR-V, or the driver's pipelines
  Dispatch,   ///< the device runs a program
  Timing,     ///< a block of samples: many programs and the host work between them
  Ahead,      ///< waits for rows that are being prepared ahead
};

std::string_view name_of(Phase phase);  ///< "start", "ceilings", ...
std::optional<Phase> parse_phase(std::string_view name);
/// Returns a clause for a sentence: "while shaders and pipelines were compiled".
std::string_view story_of(Phase phase);

/// Called as each phase begins, with the number of seconds after which the process certainly hangs in it; 0:
/// the listener's own limit.
using PhaseListener = std::function<void(Phase phase, double limit_s)>;

/// Says how a planned case ended; each ends in exactly one status.
enum class Status : std::uint8_t {
  // fine
  Pass,
  Unsupported,  ///< the device has no such feature, or a limit is too small; the reason names it with numbers
  Invalid,      ///< a declared constraint of the impl excludes this point of a product
  Skipped,      ///< on request, with a reason
  ExpectedFail,  ///< listed in the device's expectations, and it did fail
  // failing
  Fail,
  Mistrusted,  ///< passed, but so would a trivial answer
  Suspect,
  Crash,
  Timeout,
  OutOfMemory,
  Flaky,
  UnexpectedPass,
  // infrastructure
  DeviceLost,
  Missing,      ///< planned but not reached
  Interrupted,  ///< a signal ended the run while this row was running
};

enum class StatusClass : std::uint8_t { Fine, Failing, Infrastructure };

StatusClass class_of(Status status);

/// Whether a row that ended with this status took its worker with it: the process exits after it.
bool is_lost(Status status);

std::string_view name_of(Status status);  ///< "PASS", "OUT_OF_MEMORY", ...
std::optional<Status> parse_status(std::string_view name);

}  // namespace assay
