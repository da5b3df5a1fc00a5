#pragma once

#include "harness/base/status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

enum class Ink : std::uint8_t { Plain, Bold, Dim, Red, Green, Yellow, Magenta };

/// The text in ANSI escape sequences if `color`, else unchanged.
std::string painted(std::string_view text, Ink ink, bool color);

/// Green for passed, red for failed, magenta for infrastructure, yellow for not run.
Ink ink_of(Status status);

}  // namespace assay
