#include "harness/report/writers/markdown.h"

#include "harness/base/text.h"

#include <algorithm>
#include <cstddef>

namespace assay {
namespace {

std::string on_one_line(std::string_view text) {
  std::string line = printable(text);
  for (char& c : line) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return line;
}

std::string escaped(const std::string& text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != special.npos) result += '\\';
    result += c;
  }
  return result;
}

std::string row_text(const std::vector<std::string>& row, const std::vector<std::size_t>& widths,
                     const std::vector<bool>& right) {
  std::string text = "|";
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string cell = i < row.size() ? row[i] : "";
    const std::string blanks(widths[i] - columns_of(cell), ' ');
    text += ' ' + (right[i] ? blanks + cell : cell + blanks) + " |";
  }
  return text + '\n';
}

}  // namespace

std::string markdown_aligned(const std::vector<std::vector<std::string>>& rows,
                             const std::vector<bool>& right) {
  constexpr std::size_t least_width = 3;  // width of the line below the header
  std::vector<std::size_t> widths(right.size(), least_width);
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < widths.size() && i < row.size(); ++i) {
      widths[i] = std::max(widths[i], columns_of(row[i]));
    }
  }
  std::vector<std::string> rule;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    rule.push_back(std::string(widths[i] - (right[i] ? 1 : 0), '-') + (right[i] ? ":" : ""));
  }
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += row_text(rows[i], widths, right);
    if (i == 0) text += row_text(rule, widths, right);
  }
  return text;
}

std::string markdown_cell(std::string_view text) {
  return escaped(on_one_line(text), "\\|`*<[");
}

std::string markdown_code(std::string_view text) {
  std::string code = on_one_line(text);
  if (code.empty()) return "";
  std::ranges::replace(code, '`', '\'');  // nothing can be escaped in a code span, except a table's pipe
  return '`' + escaped(code, "|") + '`';
}

}  // namespace assay
