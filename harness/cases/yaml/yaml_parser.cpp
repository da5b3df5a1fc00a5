#include "harness/cases/yaml/yaml_parser.h"

#include "harness/cases/yaml/yaml_builder.h"

#include <fmt/format.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

namespace assay::cases {
namespace {

/// The scanner holds a whole flow collection in memory before its first event, some 100 bytes per character.
/// What could never pass the tree's limits is therefore refused before scanning.
void check_before_scanning(const SourceFile& file, const TreeLimits& limits) {
  constexpr int deepest = 1000;
  int depth = 0;
  std::uint64_t separators = 0;
  Mark at;
  for (const char c : file.text()) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') depth = std::max(depth - 1, 0);
    if (std::string_view("[{,:?\n").find(c) != std::string_view::npos) ++separators;
    if (depth > deepest) {
      throw Problem(file.diagnose(
          at, fmt::format("more than {} brackets are open here: values may be nested at most {} deep",
                          deepest, limits.depth)));
    }
    at = c == '\n' ? Mark{at.line + 1, 0} : Mark{at.line, at.byte + 1};
  }
  if (separators > 2 * limits.nodes) {
    throw Problem(file.diagnose({}, fmt::format("about {} values in one file, more than the limit of {}",
                                                separators / 2, limits.nodes)));
  }
}

/// Returns whether the line's indentation contains a tab.
bool is_indented_by_tab(std::string_view line) {
  return line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string_view::npos;
}

[[noreturn]] void throw_syntax_error(const SourceFile& file, const YAML::ParserException& error,
                                     const YamlBuilder& builder) {
  std::string message = "YAML syntax: " + error.msg;
  if (is_indented_by_tab(file.line(error.mark.line + 1))) message += "; indent with blanks, not tabs";
  const Node* open = builder.innermost_open();
  if (open != nullptr && error.msg.starts_with("end of")) {
    const SourceLocation begin = location_of(*open);
    message += fmt::format(" for the {} that begins at {}:{}", open->is_map() ? "map" : "list", begin.line,
                           begin.column);
  }
  throw Problem(file.diagnose({std::max(error.mark.line, 0), error.mark.column}, message));
}

}  // namespace

const Node* parse_yaml(const SourceFile& file, Arena& arena, const TreeLimits& limits) {
  check_before_scanning(file, limits);
  YamlBuilder builder(file, arena, limits);
  try {
    std::istringstream stream(file.text());
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::ParserException& error) {
    throw_syntax_error(file, error, builder);
  } catch (const YAML::Exception& error) {
    throw Problem(file.diagnose({}, std::string("YAML: ") + error.what()));
  }
  return builder.root();
}

}  // namespace assay::cases
