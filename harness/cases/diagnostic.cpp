#include "harness/cases/diagnostic.h"

#include <fmt/format.h>

#include <string_view>

namespace assay {
namespace {

/// What stands before the caret: a blank for every character, a tab for every tab, so that both lines get the
/// same width on every terminal.
std::string caret_indent(std::string_view line, int column) {
  std::string indent;
  int character = 1;
  for (const char c : line) {
    const bool continuation = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    if (continuation) continue;
    if (character++ >= column) break;
    indent += c == '\t' ? '\t' : ' ';
  }
  for (; character < column; ++character) indent += ' ';
  return indent;
}

}  // namespace

std::string to_string(const Diagnostic& diagnostic) {
  const SourceLocation& where = diagnostic.where;
  std::string text = where.file;
  if (where.line > 0) text += fmt::format(":{}:{}", where.line, where.column);
  text += ": error: " + diagnostic.message;
  if (!diagnostic.source_line.empty()) {
    text += fmt::format("\n    {}\n    {}^", diagnostic.source_line,
                        caret_indent(diagnostic.source_line, where.column));
  }
  if (!diagnostic.suggestion.empty()) text += fmt::format("\n    did you mean '{}'?", diagnostic.suggestion);
  return text;
}

}  // namespace assay
