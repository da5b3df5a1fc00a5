#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace assay {

/// What a process that runs rows is doing: what hangs or crashes is told apart by it.
enum class Phase : std::uint8_t {
  Start,      ///< loads cases, opens the device
  Ceilings,   ///< measures what the device reaches
  Host,       ///< anything else on the CPU: packing, comparing, filling
  Reference,  ///< the reference computes, on the CPU
  Compile,    ///< GLSL to SPIR-V, or the driver's pipelines
  Dispatch,   ///< the device runs a program
  Timing,     ///< a block of samples: many programs, and the host between them
  Ahead,      ///< waits for rows to come that are being prepared
};

std::string_view name_of(Phase phase);  ///< "start", "ceilings", ...
std::optional<Phase> parse_phase(std::string_view name);
/// For sentences: "while the driver's compiler was at work".
std::string_view story_of(Phase phase);

/// Told each phase as it begins, and after how many seconds in it the process hangs for certain; 0: the
/// listener's own limit.
using PhaseListener = std::function<void(Phase phase, double limit_s)>;

}  // namespace assay
