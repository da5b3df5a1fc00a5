#include "harness/report/journal/quick_line.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace assay {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Whether the text is a number in JSON's grammar, which is stricter than from_chars.
bool is_json_number(std::string_view text) {
  const auto digits = [&] {
    std::size_t count = 0;
    while (count < text.size() && is_digit(text[count])) ++count;
    text.remove_prefix(count);
    return count;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool leading_zero = text.starts_with('0');
  const std::size_t whole = digits();
  if (whole == 0 || (leading_zero && whole > 1)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty();
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool skip(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  bool at_end() const { return text_.empty(); }

  template <class T>
  bool number(T& value) {
    const std::size_t size = std::min(text_.find_first_of(",]}"), text_.size());
    const std::string_view digits = text_.substr(0, size);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + size, value);
    if (error != std::errc{} || end != digits.data() + size || !is_json_number(digits)) return false;
    text_.remove_prefix(size);
    return true;
  }

 private:
  std::string_view text_;
};

bool read_block(Scanner& scanner, Block& block) {
  if (!scanner.skip(",\"round\":") || !scanner.number(block.round) || !scanner.skip(",\"batch\":") ||
      !scanner.number(block.batch) || !scanner.skip(",\"samples_ns\":["))
    return false;
  do {
    if (!scanner.number(block.samples_ns.emplace_back())) return false;
  } while (scanner.skip(","));
  if (!scanner.skip("]")) return false;
  return !scanner.skip(",\"probe_ns\":") || scanner.number(block.probe_ns);
}

}  // namespace

std::optional<QuickLine> quick_line(std::string_view line) {
  Scanner scanner(line);
  QuickLine quick;
  const bool begins = scanner.skip(R"({"event":"begin","row":)");
  if (!begins && !scanner.skip(R"({"event":"block","row":)")) return std::nullopt;
  if (!scanner.number(quick.row)) return std::nullopt;
  if (!begins && !read_block(scanner, quick.block.emplace())) return std::nullopt;
  return scanner.skip("}") && scanner.at_end() ? std::optional(std::move(quick)) : std::nullopt;
}

}  // namespace assay
