#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace assay {

/// A table for a terminal: cells in columns that line up, the first row being its header. Columns of which
/// `right` is true are aligned to the right; a column whose cells but the header's are all empty is left out.
/// Where a line would be longer than `width`, its last cell stands on a line of its own, indented: ids are
/// never cut, so that they can be copied.
std::string text_table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right,
                       std::size_t width);

/// A paragraph in lines of at most `width` columns, each with its end; longer words stand alone.
std::string wrapped_words(const std::string& paragraph, std::size_t width);

/// "1 row", "12 rows".
std::string counted_rows(std::size_t count);

}  // namespace assay
