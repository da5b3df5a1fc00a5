#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A table of cells in columns that line up, the first row being its header. Columns of which `right` is true
/// are aligned to the right; short rows are filled up. Cells are Markdown already.
std::string markdown_aligned(const std::vector<std::vector<std::string>>& rows,
                             const std::vector<bool>& right);

/// Text of any origin as a cell of a Markdown table: printable, on one line, nothing in it is markup.
std::string markdown_cell(std::string_view text);

/// The same as a code span: `a|b` with its pipe escaped.
std::string markdown_code(std::string_view text);

}  // namespace assay
