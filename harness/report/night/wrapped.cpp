#include "harness/report/night/wrapped.h"

#include "harness/base/text.h"

#include <vector>

namespace assay {
namespace {

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

}  // namespace

std::string wrapped(std::string_view head, std::string_view text) {
  return broken(head, words_of(text, false), "");
}

std::string wrapped_command(std::string_view head, std::string_view command) {
  return broken(head, words_of(command, true), reads_on);
}

}  // namespace assay
