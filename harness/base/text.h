#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace assay {

// Functions that make text of any origin fit for a report. Driver names, reasons and paths come from outside:
// they may hold invalid UTF-8, control characters, quotes and line ends.

/// Replaces each sequence that is not valid UTF-8 by U+FFFD.
std::string valid_utf8(std::string_view text);

/// Applies valid_utf8 and makes control characters visible ("\x1b"), also those that change the order in
/// which text is shown ("\u202e"). Line feeds and tabs stay. The result is legal in XML 1.0 and harmless on a
/// terminal. Use it for all quoted text from outside: file names and contents, drivers' messages.
std::string printable(std::string_view text);

/// Applies printable() and makes line feeds and tabs visible too ("\x0a"): for names within a line, which
/// could else forge the next one.
std::string printable_line(std::string_view text);

/// Returns the number of code points of valid UTF-8, which is the width in a fixed-width font for the text of
/// reports.
std::size_t columns_of(std::string_view text);

/// Returns at most `width` code points; if something was left out, the last three are dots.
std::string shortened(std::string_view text, std::size_t width);

/// Returns the text before the first line feed.
std::string first_line(std::string_view text);

/// Starts each line except the first with `indent` blanks.
std::string indented(std::string_view text, std::size_t indent);

// Numbers are formatted independently of the locale. All functions give "nan", "inf" and "-inf".

/// Returns the shortest text that reads back as the same number. Whole numbers have no exponent; values that
/// float32 can represent get float32's digits ("0.1"), others float64's.
std::string shortest(double value);
/// Returns `digits` digits after the point: "12.3457" for 4.
std::string fixed(double value, int digits);
/// Returns at most `digits` significant digits: "0.00123457", "1.5e+20".
std::string significant(double value, int digits);
/// Returns a figure for people to read: like significant(), but a large one is a whole number without an
/// exponent: "0.00123", "24060" for 4.
std::string readable(double value, int digits);

/// Returns a size in the largest binary unit that keeps the number whole: "64 KiB".
std::string binary_bytes(std::uint64_t bytes);
/// Returns a size in decimal units, as data sheets do: "512 bytes", "214.0 MB", "3.2 GB".
std::string bytes_text(std::uint64_t bytes);

/// Returns numbers as "[0,3,7,2]".
template <class Range>
std::string bracketed(const Range& numbers) {
  std::string text = "[";
  for (const auto& number : numbers) {
    if (text.size() > 1) text += ',';
    text += std::to_string(number);
  }
  return text + "]";
}

/// Returns the first `most` names and how many are left out: "A, B and 3 more".
std::string first_names(const std::vector<std::string>& names, std::size_t most);

/// Turns any name into one for a folder or a class: lower-case ASCII letters and digits, with single hyphens
/// for everything else; "device" if nothing is left.
std::string slug_of(std::string_view name);

/// Width of files that people read without a terminal that would wrap them: mails, logs.
inline constexpr std::size_t page_width = 100;

/// `head` and the words of `text`, broken into lines of page_width; further lines are indented by the width
/// of `head`. A word that is longer than a line is not broken. Ends with a line feed.
std::string wrapped(std::string_view head, std::string_view text);

/// A shell command broken like wrapped(): each break has a backslash, so that the shell continues the line,
/// and is at a blank between words, never inside quotes.
std::string wrapped_command(std::string_view head, std::string_view command);

/// A word of a shell command line, quoted if a shell would split or expand it.
std::string shell_word(const std::string& text);

/// The words of a text, between white space: {"M=8", "N=16"} of "M=8 N=16".
std::vector<std::string> words_in(const std::string& text);

/// A regular expression in RE2's syntax (Perl's without back references and look-around). Searching takes
/// time linear in the text and little stack and memory, whatever the expression.
class Pattern {
 public:
  enum class Case : bool { Matters, Ignored };

  /// Throws Error with what is wrong with the expression; the caller must say which expression it is.
  explicit Pattern(const std::string& expression, Case letters = Case::Matters);

  /// Returns whether some part of the text matches.
  bool is_in(std::string_view text) const;

 private:
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace assay
