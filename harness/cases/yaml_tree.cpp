#include "harness/cases/yaml_tree.h"

#include "harness/cases/yaml_builder.h"

#include <fmt/format.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <unordered_set>

namespace assay::cases {
namespace {

/// The scanner holds a whole flow collection in memory before the first event of it, some 100 bytes for each
/// sign: what could never pass the limits of the tree is refused before it is given to it.
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
      throw Problem(
          file.diagnose(at, fmt::format("more than {} brackets are open here: values may be nested {} deep",
                                        deepest, limits.depth)));
    }
    at = c == '\n' ? Mark{at.line + 1, 0} : Mark{at.line, at.byte + 1};
  }
  if (separators > 2 * limits.nodes) {
    throw Problem(file.diagnose({}, fmt::format("about {} values in one file, more than the limit of {}",
                                                separators / 2, limits.nodes)));
  }
}

/// Whether the line begins with blanks and tabs, a tab among them.
bool is_indented_by_tab(std::string_view line) {
  return line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string_view::npos;
}

[[noreturn]] void throw_syntax_error(const SourceFile& file, const YAML::ParserException& error,
                                     const YamlBuilder& builder) {
  std::string message = "YAML syntax: " + error.msg;
  if (is_indented_by_tab(file.line(error.mark.line + 1))) message += "; a tab cannot indent, use blanks";
  const Node* open = builder.innermost_open();
  if (open != nullptr && error.msg.starts_with("end of")) {
    const SourceLocation begin = location_of(*open);
    message += fmt::format(" for the {} that begins at {}:{}", open->is_map() ? "map" : "list", begin.line,
                           begin.column);
  }
  throw Problem(file.diagnose({std::max(error.mark.line, 0), error.mark.column}, message));
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  const Entry* entry = find_entry(key);
  return entry == nullptr ? nullptr : entry->value;
}

const Node::Entry* Node::find_entry(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.key->is_scalar() && entry.key->text == key;
  });
  return found == entries.end() ? nullptr : &*found;
}

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

void for_each_flaw(const Node& node, const std::function<bool(const Flaw&)>& visit) {
  std::unordered_set<const Node*> seen;
  bool more = true;
  const std::function<void(const Node&)> walk = [&](const Node& at) {
    if (!more || !at.flawed || !seen.insert(&at).second) return;
    for (const Flaw& flaw : at.flaws) more = more && visit(flaw);
    for (const Node* item : at.items) walk(*item);
    for (const Node::Entry& entry : at.entries) walk(*entry.value);
  };
  walk(node);
}

Diagnostic diagnose(const Flaw& flaw) {
  const Node& at = *flaw.at;
  if (flaw.kind == Flaw::Kind::MergeKey) {
    return diagnose(
        at, "merge keys ('<<') are not part of the case language: share values by `sets:` or `defaults:`");
  }
  if (flaw.kind == Flaw::Kind::KeyIsNoName)
    return diagnose(at, "a key must be a name, this one is " + describe(at));
  const SourceLocation first = location_of(*flaw.first);
  return diagnose(
      at, fmt::format("duplicate key '{}', already given at {}:{}", at.text, first.line, first.column));
}

std::string describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::Null:
      return "nothing";
    case Node::Kind::List:
      return "a list";
    case Node::Kind::Map:
      return "a map";
    case Node::Kind::Scalar:
      break;
  }
  constexpr std::size_t longest = 40;
  const std::string shown = node.text.size() <= longest ? node.text : node.text.substr(0, longest) + "...";
  return fmt::format("{} '{}'", node.quoted ? "the quoted text" : "the text", shown);
}

SourceLocation location_of(const Node& node) {
  return node.file->locate(node.mark);
}

Diagnostic diagnose(const Node& at, std::string message, std::string suggestion) {
  return at.file->diagnose(at.mark, std::move(message), std::move(suggestion));
}

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}

std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

}  // namespace assay::cases
