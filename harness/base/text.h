#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

// Text of any origin made fit for a report. Driver names, reasons and paths come from outside: they may
// hold bytes that are no UTF-8, control characters, quotes and line ends.

/// Each part that is not UTF-8 becomes U+FFFD.
std::string valid_utf8(std::string_view text);

/// valid_utf8 with control characters made visible: "\x1b", and so are those that change the order in which
/// text is shown: "\u202e". Line feeds and tabs stay. The result is legal in XML 1.0 and harmless on a
/// terminal. For all that is quoted and comes from outside: names of files, their content, drivers' words.
std::string printable(std::string_view text);

/// Number of code points of valid UTF-8: what a fixed-width font shows for the text of reports.
std::size_t columns_of(std::string_view text);

/// At most `width` code points, the last three of them dots where something was left out.
std::string shortened(std::string_view text, std::size_t width);

/// What stands before the first line feed.
std::string first_line(std::string_view text);

/// Each line but the first begins with `indent` blanks.
std::string indented(std::string_view text, std::size_t indent);

// Numbers, never by locale. All give "nan", "inf" and "-inf".

/// The shortest text that reads back as the same number: whole numbers without exponent, values that are
/// float32 numbers with float32's digits ("0.1"), else float64's.
std::string shortest(double value);
/// "12.3457" for 4 digits after the point.
std::string fixed(double value, int digits);
/// "0.00123457", "1.5e+20": at most `digits` significant digits.
std::string significant(double value, int digits);

/// "64 KiB": in the largest unit that keeps the number whole.
std::string binary_bytes(std::uint64_t bytes);
/// "512 bytes", "214.0 MB", "3.2 GB": powers of ten, as data sheets count.
std::string bytes_text(std::uint64_t bytes);

/// "[0,3,7,2]"
template <class Range>
std::string bracketed(const Range& numbers) {
  std::string text = "[";
  for (const auto& number : numbers) {
    if (text.size() > 1) text += ',';
    text += std::to_string(number);
  }
  return text + "]";
}

}  // namespace assay
