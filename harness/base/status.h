#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {

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
