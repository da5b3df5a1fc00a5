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

}  // namespace assay
