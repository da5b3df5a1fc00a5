#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Calls `action` with the cells and the line (from 1) of each row of an RFC 4180 text; what csv_row() put
/// before a cell that looks like a formula is taken away again. A last row without its line end is told too.
/// Throws Error with the line of a quote that is not closed.
void for_each_csv_row(
    std::string_view text,
    const std::function<void(const std::vector<std::string>& cells, std::size_t line)>& action);

}  // namespace assay
