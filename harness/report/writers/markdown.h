#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A table with aligned columns; the first row is its header. Columns with `right` are right-aligned, short
/// rows are filled with empty cells. Cells are already Markdown.
std::string markdown_aligned(const std::vector<std::vector<std::string>>& rows,
                             const std::vector<bool>& right);

/// Untrusted text as a cell of a Markdown table: printable, on one line, with all markup escaped.
std::string markdown_cell(std::string_view text);

/// Untrusted text as a code span: `a|b` with its pipe escaped.
std::string markdown_code(std::string_view text);

}  // namespace assay
