#pragma once

#include <string>
#include <vector>

namespace assay::test {

/// The blocks of a language in a Markdown text: what is between ```sql and ```.
inline std::vector<std::string> fenced_code(const std::string& markdown, const std::string& language) {
  const std::string fence = "\n```" + language + "\n";
  std::vector<std::string> blocks;
  for (auto at = markdown.find(fence); at != markdown.npos; at = markdown.find(fence, at + 1)) {
    const auto begin = at + fence.size();
    blocks.push_back(markdown.substr(begin, markdown.find("```", begin) - begin));
  }
  return blocks;
}

}  // namespace assay::test
