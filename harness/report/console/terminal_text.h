#pragma once

#include "harness/base/status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class Ink : std::uint8_t { Plain, Bold, Dim, Red, Green, Yellow, Magenta };

/// The text in ANSI escape sequences if `color`, else unchanged.
std::string painted(std::string_view text, Ink ink, bool color);

/// Green for passed, red for failed, magenta for infrastructure, yellow for not run.
Ink ink_of(Status status);

/// A table with aligned columns for a terminal; the first row is its header. Columns with `right` are
/// right-aligned; a column that is empty except for its header is left out. If a line would be longer than
/// `width`, its last cell gets an indented line of its own: ids are never cut, so that they can be copied.
std::string text_table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right,
                       std::size_t width);

/// A paragraph wrapped to at most `width` columns, each line with its end; a longer word has a line of its
/// own.
std::string wrapped_words(const std::string& paragraph, std::size_t width);

/// "1 row", "12 rows".
std::string counted_rows(std::size_t count);

}  // namespace assay
