#pragma once

#include <string>
#include <string_view>

namespace assay::app {

/// The source without comments, blank lines and spaces at the ends of lines. Equal results compile to the
/// same code. Lines with `"` (includes), and sources with `__LINE__`, stay as they are.
std::string without_comments(std::string_view source);

}  // namespace assay::app
