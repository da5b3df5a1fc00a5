#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

/// Width of files that people read without a terminal that would wrap them: mails, logs.
inline constexpr std::size_t page_width = 100;

/// `head` and the words of `text`, broken into lines of page_width; further lines are indented by the width
/// of `head`. A word that is longer than a line is not broken. Ends with a line feed.
std::string wrapped(std::string_view head, std::string_view text);

/// A shell command broken like wrapped(): each break has a backslash, so that the shell continues the line,
/// and is at a blank between words, never inside quotes.
std::string wrapped_command(std::string_view head, std::string_view command);

}  // namespace assay
