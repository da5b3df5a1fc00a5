#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// One row of an RFC 4180 file with its line end: printable text, quoted if necessary.
std::string csv_row(const std::vector<std::string>& cells);

/// Calls `action` with the cells and the line (from 1) of each row of an RFC 4180 text. Removes the
/// apostrophe that csv_row() puts before a cell that looks like a formula. A last row without line end counts
/// too. Throws Error with the line of a quote that is not closed.
void for_each_csv_row(
    std::string_view text,
    const std::function<void(const std::vector<std::string>& cells, std::size_t line)>& action);

}  // namespace assay
