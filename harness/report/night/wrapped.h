#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

/// Columns of the files that people read without a terminal that would wrap them: mails, logs.
inline constexpr std::size_t page_width = 100;

/// `head`, then the words of `text`, broken into lines of page_width; further lines are indented by the width
/// of `head`. A word that is longer than a line stands whole. Ends with a line feed.
std::string wrapped(std::string_view head, std::string_view text);

/// The same of a line for a shell: each break has the backslash that lets the shell read on, and stands at a
/// blank between words, never inside of quotes.
std::string wrapped_command(std::string_view head, std::string_view command);

}  // namespace assay
