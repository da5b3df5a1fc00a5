#include "harness/cases/yaml/diagnostic.h"

#include "harness/base/text.h"

#include <fmt/format.h>

#include <string_view>

namespace assay {
namespace {

/// Returns the text before the caret: a blank for every character shown and a tab for every tab, so that both
/// lines have the same width on every terminal.
std::string caret_indent(std::string_view line, int column) {
  std::size_t end = 0;
  int character = 1;
  for (; end < line.size() && character < column; ++character) {
    do ++end;
    while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U);
  }
  std::string indent;
  for (const char c : printable(line.substr(0, end))) {
    const bool continuation = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    if (!continuation) indent += c == '\t' ? '\t' : ' ';
  }
  if (character < column) indent.append(static_cast<std::size_t>(column - character), ' ');
  return indent;
}

}  // namespace

std::string to_string(const Diagnostic& diagnostic) {
  const SourceLocation& where = diagnostic.where;
  std::string text = printable(where.file);
  if (where.line > 0) text += fmt::format(":{}:{}", where.line, where.column);
  text += ": error: " + printable(diagnostic.message);
  if (!diagnostic.source_line.empty()) {
    text += fmt::format("\n    {}\n    {}^", printable(diagnostic.source_line),
                        caret_indent(diagnostic.source_line, where.column));
  }
  if (!diagnostic.suggestion.empty())
    text += fmt::format("\n    did you mean '{}'?", printable(diagnostic.suggestion));
  return text;
}

}  // namespace assay
