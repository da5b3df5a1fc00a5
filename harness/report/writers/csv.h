#pragma once

#include <string>
#include <vector>

namespace assay {

/// One row of an RFC 4180 file with its line end: printable text, quoted if necessary.
std::string csv_row(const std::vector<std::string>& cells);

}  // namespace assay
