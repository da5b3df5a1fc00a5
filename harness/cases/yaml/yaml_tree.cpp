#include "harness/cases/yaml/yaml_tree.h"

#include "harness/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

namespace assay::cases {
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
    return diagnose(at, "a key must be a name, but this one is " + describe(at));
  const SourceLocation first = location_of(*flaw.first);
  return diagnose(at, fmt::format("duplicate key '{}', already given at {}:{}", printable_line(at.text),
                                  first.line, first.column));
}

std::string describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::Null:
      return "nothing";
    case Node::Kind::List:
      return node.items.empty() ? "an empty list" : "a list";
    case Node::Kind::Map:
      return "a map";
    case Node::Kind::Scalar:
      break;
  }
  constexpr std::size_t longest = 40;
  const std::string shown = node.text.size() <= longest ? node.text : node.text.substr(0, longest) + "...";
  return fmt::format("{} '{}'", node.quoted ? "the quoted text" : "the text", printable_line(shown));
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
