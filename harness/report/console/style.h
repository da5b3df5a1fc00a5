#pragma once

#include "harness/base/status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

enum class Ink : std::uint8_t { Plain, Bold, Dim, Red, Green, Yellow, Magenta };

/// The text between ANSI escape sequences, or as it is.
std::string painted(std::string_view text, Ink ink, bool color);

/// Green for what passed, red for failures, magenta for infrastructure, yellow for what did not run.
Ink ink_of(Status status);

}  // namespace assay
