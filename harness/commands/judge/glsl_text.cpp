#include "harness/commands/judge/glsl_text.h"

namespace assay::app {
namespace {

/// Removes comments from one line after another.
class Stripper {
 public:
  void add(std::string_view line) {
    const std::string kept = without(line);
    const std::size_t end = kept.find_last_not_of(" \t\r");
    if (end == std::string::npos) return;
    text_ += kept.substr(0, end + 1) + '\n';
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string without(std::string_view line) {
    if (!in_comment_ && line.find('"') != std::string_view::npos) return std::string(line);
    std::string kept;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string_view here = line.substr(i, 2);
      if (in_comment_) {
        if (here != "*/") continue;
        in_comment_ = false;
        ++i;
      } else if (here == "/*") {
        in_comment_ = true;
        kept += ' ';
        ++i;
      } else if (here == "//") {
        break;
      } else {
        kept += line[i];
      }
    }
    return kept;
  }

  std::string text_;
  bool in_comment_ = false;
};

}  // namespace

std::string without_comments(std::string_view source) {
  // A comment that ends in a backslash goes on in the next line; both make comments count as code.
  if (source.find("__LINE__") != std::string_view::npos || source.find('\\') != std::string_view::npos)
    return std::string(source);
  Stripper stripper;
  while (!source.empty()) {
    const std::size_t end = source.find('\n');
    stripper.add(source.substr(0, end));
    if (end == std::string_view::npos) break;
    source.remove_prefix(end + 1);
  }
  return std::move(stripper).text();
}

}  // namespace assay::app
