#include "harness/report/console/terminal_text.h"

#include "harness/base/text.h"

#include <algorithm>
#include <sstream>

namespace assay {
namespace {

std::string_view code_of(Ink ink) {
  switch (ink) {
    case Ink::Plain:
      return "";
    case Ink::Bold:
      return "1";
    case Ink::Dim:
      return "2";
    case Ink::Red:
      return "1;31";
    case Ink::Green:
      return "32";
    case Ink::Yellow:
      return "33";
    case Ink::Magenta:
      return "1;35";
  }
  return "";
}

constexpr std::size_t indent = 2;
constexpr std::size_t gap = 2;
constexpr std::size_t own_line_indent = 6;

using Cells = std::vector<std::string>;

std::vector<std::size_t> widths_of(const std::vector<Cells>& rows) {
  std::vector<std::size_t> widths(rows.empty() ? 0 : rows.front().size());
  for (std::size_t i = 0; i < widths.size(); ++i) {
    bool is_used = rows.size() == 1;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (i >= rows[k].size()) continue;
      widths[i] = std::max(widths[i], columns_of(rows[k][i]));
      is_used = is_used || (k > 0 && !rows[k][i].empty());
    }
    if (!is_used) widths[i] = 0;
  }
  return widths;
}

std::string cell_text(const std::string& cell, std::size_t width, bool right) {
  const std::string blanks(width - std::min(width, columns_of(cell)), ' ');
  return right ? blanks + cell : cell + blanks;
}

void trim(std::string& line) {
  while (line.ends_with(' ')) line.pop_back();
}

std::string line_of(const Cells& cells, const std::vector<std::size_t>& widths,
                    const std::vector<bool>& right, std::size_t width) {
  const std::size_t last = widths.size() - 1;
  std::string line(indent, ' ');
  for (std::size_t i = 0; i < last; ++i) {
    if (widths[i] == 0) continue;
    line += cell_text(i < cells.size() ? cells[i] : "", widths[i], right[i]) + std::string(gap, ' ');
  }
  if (last < cells.size() && widths[last] > 0) {
    const std::string& cell = cells[last];
    const bool fits = columns_of(line) + columns_of(cell) <= width;
    if (!fits) {
      trim(line);
      return line + '\n' + std::string(own_line_indent, ' ') + cell + '\n';
    }
    line += right[last] ? cell_text(cell, widths[last], true) : cell;
  }
  trim(line);
  return line + '\n';
}

}  // namespace

std::string painted(std::string_view text, Ink ink, bool color) {
  if (!color || ink == Ink::Plain || text.empty()) return std::string(text);
  return "\x1b[" + std::string(code_of(ink)) + "m" + std::string(text) + "\x1b[0m";
}

Ink ink_of(Status status) {
  if (class_of(status) == StatusClass::Infrastructure) return Ink::Magenta;
  if (class_of(status) == StatusClass::Failing) return Ink::Red;
  return status == Status::Pass ? Ink::Green : Ink::Yellow;
}

std::string text_table(const std::vector<Cells>& rows, const std::vector<bool>& right, std::size_t width) {
  if (rows.empty() || rows.front().empty()) return "";
  const std::vector<std::size_t> widths = widths_of(rows);
  std::string text;
  for (const Cells& cells : rows) text += line_of(cells, widths, right, width);
  return text;
}

std::string wrapped_words(const std::string& paragraph, std::size_t width) {
  std::string text;
  std::size_t column = 0;
  std::istringstream stream(paragraph);
  for (std::string word; stream >> word; column += columns_of(word) + 1) {
    if (column + columns_of(word) > width) column = 0;
    if (!text.empty()) text += column == 0 ? '\n' : ' ';
    text += word;
  }
  return text.empty() ? "" : text + '\n';
}

std::string counted_rows(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " row" : " rows");
}

}  // namespace assay
