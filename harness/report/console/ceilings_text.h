#pragma once

#include "harness/device/ceilings.h"

#include <string>
#include <vector>

namespace assay {

// The one place that formats ceilings for people: GB/s for memory and GOP/s for arithmetic, the units of the
// rows that are compared with them.

struct CeilingLine {
  std::string label;
  std::string value;  ///< with its unit; the bandwidth curve is a table of several lines
};

/// All of a device's ceilings, one per line.
std::vector<CeilingLine> ceiling_lines(const Ceilings& ceilings);

/// The ceilings for a terminal: each line is indented by four and ends with a newline.
std::string ceilings_text(const Ceilings& ceilings);

/// The main figures in one line without line end: bandwidth far beyond the caches, best bandwidth,
/// arithmetic.
std::string ceilings_line(const Ceilings& ceilings);

}  // namespace assay
