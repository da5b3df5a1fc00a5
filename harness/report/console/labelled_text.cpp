#include "harness/report/console/labelled_text.h"

#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/report/console/style.h"
#include "harness/report/record/record.h"

#include <algorithm>
#include <cstddef>

namespace assay {
namespace {

constexpr std::size_t value_column = 18;

}  // namespace

void Page::verdict(const Record& record) {
  title(name_of(record.status), ink_of(record.status),
        printable(record.info.id) + " (" + printable(mode_words(record.info)) + ")");
}

void Page::title(std::string_view word, Ink ink, const std::string& subject) {
  if (!text_.empty()) text_ += '\n';
  text_ += painted(word, ink, color_) + "  " + painted(subject, Ink::Bold, color_) + '\n';
}

void Page::section(const std::string& title) {
  text_ += '\n' + painted(title, Ink::Bold, color_) + '\n';
}

void Page::line(std::string_view label, std::string_view value) {
  while (value.ends_with('\n')) value.remove_suffix(1);
  if (value.empty()) return;
  std::string head = "  " + std::string(label);
  head.resize(std::max(value_column, head.size() + 1), ' ');
  text_ += head + indented(printable(value), value_column) + '\n';
}

std::string joined(std::initializer_list<std::string> parts, const std::string& separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

}  // namespace assay
