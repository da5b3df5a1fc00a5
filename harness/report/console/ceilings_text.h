#pragma once

#include "harness/op/ceilings.h"

#include <string>
#include <vector>

namespace assay {

// The one place that writes ceilings for people: GB/s for memory and GOP/s for arithmetic, the units of the
// rows that are held against them.

struct CeilingLine {
  std::string label;
  std::string value;  ///< with its unit; the bandwidth curve is a table of several lines
};

/// All of it, a line a figure.
std::vector<CeilingLine> ceiling_lines(const Ceilings& ceilings);

/// The same for a terminal: indented by four, each line ends with a newline.
std::string ceilings_text(const Ceilings& ceilings);

/// The heart of it in a line without its end: bandwidth far beyond the caches and at its best, arithmetic.
std::string ceilings_line(const Ceilings& ceilings);

}  // namespace assay
