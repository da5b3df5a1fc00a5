#include "harness/base/text.h"

#include "harness/base/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <re2/re2.h>
#include <span>
#include <sstream>
#include <vector>

namespace assay {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

struct CodePoint {
  std::optional<std::uint32_t> value;  // empty: the bytes are not UTF-8
  std::size_t bytes = 1;
};

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// The smallest code point that needs an encoding of N bytes; smaller ones in N bytes are overlong.
constexpr std::array<std::uint32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};

// Reads one code point. Of an invalid sequence it takes the bytes up to the first that does not fit.
CodePoint code_point_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return {std::nullopt, 1};
  std::uint32_t value = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if (at + i >= text.size() || !is_continuation(text[at + i])) return {std::nullopt, i};
    value = (value << 6U) | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < smallest[bytes] || surrogate || value > 0x10FFFF) return {std::nullopt, bytes};
  return {value, bytes};
}

template <class Put>
void for_each_code_point(std::string_view text, Put put) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    put(point.value, text.substr(at, point.bytes));
    at += point.bytes;
  }
}

std::string escaped(std::uint32_t point) {
  return point <= 0xFF ? fmt::format("\\x{:02x}", point) : fmt::format("\\u{:04x}", point);
}

bool is_control(std::uint32_t point) {
  return (point < 0x20 && point != '\n' && point != '\t') || (point >= 0x7F && point < 0xA0);
}

/// Returns whether the character makes a terminal reorder text or break a line: marks, embeddings, overrides
/// and isolates of the bidirectional algorithm, line and paragraph separators.
bool moves_text(std::uint32_t point) {
  return point == 0x061C || point == 0x200E || point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

/// Returns whether a terminal shows the text unchanged. Most text is like this, so the test is fast.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\t'; });
}

std::optional<std::string> not_finite(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return std::nullopt;
}

template <class... Format>
std::string number_text(Format... format) {
  std::array<char, 400> buffer{};  // for the longest number: 1e308 with all its digits
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), format...);
  return {buffer.data(), result.ptr};
}

constexpr std::string_view reads_on = " \\";

/// The words between blanks; with `quotes`, a blank inside quotes does not separate words.
std::vector<std::string> words_of(std::string_view text, bool quotes) {
  std::vector<std::string> words(1);
  char open = 0;
  for (const char c : text) {
    if (quotes && (c == '\'' || c == '"')) open = open == c ? 0 : open == 0 ? c : open;
    if ((c == ' ' || c == '\n' || c == '\t') && open == 0) {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string broken(std::string_view head, const std::vector<std::string>& words,
                   std::string_view end_of_line) {
  const std::string indent(columns_of(head), ' ');
  std::string text(head), separator;
  std::size_t column = indent.size();
  for (const std::string& word : words) {
    const std::size_t width = columns_of(word);
    if (!separator.empty() && column + 1 + width + end_of_line.size() > page_width) {
      text += std::string(end_of_line) + '\n' + indent;
      separator.clear();
      column = indent.size();
    }
    text += separator + word;
    column += separator.size() + width;
    separator = " ";
  }
  while (text.ends_with(' ')) text.pop_back();
  return text + '\n';
}

re2::RE2::Options options_of(Pattern::Case letters) {
  re2::RE2::Options options;
  options.set_case_sensitive(letters == Pattern::Case::Matters);
  options.set_log_errors(false);
  return options;
}

std::shared_ptr<const re2::RE2> compile(const std::string& expression, Pattern::Case letters) {
  constexpr std::size_t longest = 1000;     // anything longer is a mistake
  constexpr std::size_t longest_why = 200;  // RE2 quotes the faulty part, which may be the whole expression
  if (expression.size() > longest) throw Error(fmt::format("it has more than {} characters", longest));
  auto compiled = std::make_shared<const re2::RE2>(expression, options_of(letters));
  if (!compiled->ok()) throw Error(shortened(printable(compiled->error()), longest_why));
  return compiled;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string result;
  result.reserve(text.size());
  for_each_code_point(text,
                      [&](auto point, std::string_view bytes) { result += point ? bytes : replacement; });
  return result;
}

std::string printable(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string result;
  result.reserve(text.size());
  for_each_code_point(text, [&](auto point, std::string_view bytes) {
    if (!point || *point == 0xFFFE || *point == 0xFFFF) {
      result += replacement;
    } else if (is_control(*point) || moves_text(*point)) {
      result += escaped(*point);
    } else {
      result += bytes;
    }
  });
  return result;
}

std::string printable_line(std::string_view text) {
  std::string result;
  for (const char c : printable(text))
    result += c == '\n' || c == '\t' ? escaped(static_cast<unsigned>(c)) : std::string(1, c);
  return result;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (const char byte : text) columns += is_continuation(byte) ? 0 : 1;
  return columns;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (columns_of(text) <= width) return std::string(text);
  constexpr std::string_view dots = "...";
  const std::size_t kept = width > dots.size() ? width - dots.size() : 0;
  std::size_t end = 0;
  for (std::size_t columns = 0; columns < kept; ++columns) {
    do ++end;
    while (end < text.size() && is_continuation(text[end]));
  }
  return std::string(text.substr(0, end)).append(dots.substr(0, width));
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

std::string indented(std::string_view text, std::size_t indent) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (c == '\n') result.append(indent, ' ');
  }
  return result;
}

std::string shortest(double value) {
  if (const auto text = not_finite(value)) return *text;
  constexpr double whole_below = 9007199254740992.0;  // 2^53
  if (value == std::trunc(value) && std::abs(value) < whole_below)
    return number_text(value, std::chars_format::fixed);
  constexpr double float_max = 3.4028234663852886e38;
  if (std::abs(value) <= float_max && static_cast<double>(static_cast<float>(value)) == value) {
    return number_text(static_cast<float>(value));
  }
  return number_text(value);
}

std::string fixed(double value, int digits) {
  if (const auto text = not_finite(value)) return *text;
  return number_text(value, std::chars_format::fixed, digits);
}

std::string significant(double value, int digits) {
  if (const auto text = not_finite(value)) return *text;
  return number_text(value, std::chars_format::general, digits);
}

std::string readable(double value, int digits) {
  // From here on, `digits` digits round to a power of ten, which significant() gives an exponent.
  const double least_with_exponent = std::pow(10, digits) - 0.5;
  return std::abs(value) >= least_with_exponent ? fixed(value, 0) : significant(value, digits);
}

std::string binary_bytes(std::uint64_t bytes) {
  constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes != 0 && bytes % 1024 == 0 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return std::to_string(bytes) + " " + units[unit];
}

std::string bytes_text(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 10'000) {
    return fmt::format("{} bytes", bytes);
  }
  if (bytes < 1'000'000) {
    return fmt::format("{:.1f} kB", value / 1e3);
  }
  if (bytes < 1'000'000'000) {
    return fmt::format("{:.1f} MB", value / 1e6);
  }
  return fmt::format("{:.1f} GB", value / 1e9);
}

std::string first_names(const std::vector<std::string>& names, std::size_t most) {
  const auto shown = std::span(names).first(std::min(names.size(), most));
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

std::string slug_of(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      text += static_cast<char>(std::tolower(byte));
    } else if (!text.empty() && text.back() != '-') {
      text += '-';
    }
  }
  while (text.ends_with('-')) text.pop_back();
  return text.empty() ? "device" : text;
}

std::string wrapped(std::string_view head, std::string_view text) {
  return broken(head, words_of(text, false), "");
}

std::string wrapped_command(std::string_view head, std::string_view command) {
  return broken(head, words_of(command, true), reads_on);
}

std::string shell_word(const std::string& text) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-:=,@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

Pattern::Pattern(const std::string& expression, Case letters) : compiled_(compile(expression, letters)) {}

bool Pattern::is_in(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

}  // namespace assay
