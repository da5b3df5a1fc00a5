#pragma once

#include "harness/op/ceilings.h"

#include <string>

namespace assay {

/// The ceilings of one device for a terminal: the bandwidth curve as a table, then a line a figure. Lines are
/// indented by four and end with a newline.
std::string ceilings_text(const Ceilings& ceilings);

/// The heart of them in a line, without its end.
std::string ceilings_line(const Ceilings& ceilings);

}  // namespace assay
