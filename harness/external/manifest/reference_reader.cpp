#include "harness/external/manifest/reference_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::external {
namespace {

using cases::Problems;

/// Reads the call of another op.
class OtherOpReader {
 public:
  OtherOpReader(const Node& map, const Manifest& manifest, const Scope& scope)
      : map_(map), manifest_(manifest), scope_(scope) {}

  DeclaredOtherOp read() {
    static const std::vector<std::string> keys{"op", "with", "tensors"};
    cases::check_keys(map_, keys);
    const Node::Entry& op = *map_.find_entry("op");
    DeclaredOtherOp made{.op = cases::to_text(*op.value, {op.key, "op"}),
                         .where = cases::location_of(*op.value)};
    Problems problems;
    problems.attempt([&] { made.with = arguments(); });
    problems.attempt([&] { made.tensors = tensors(); });
    problems.settle();
    return made;
  }

 private:
  static const Node::Entry* map_at(const Node& map, const std::string& key, const char* what) {
    const Node::Entry* entry = map.find_entry(key);
    if (entry != nullptr && !entry->value->is_map())
      cases::wrong_type(*entry->value, {entry->key, key}, what);
    return entry;
  }

  std::vector<DeclaredArgument> arguments() const {
    const Node::Entry* with = map_at(map_, "with", "a map: the other op's parameters and their values");
    std::vector<DeclaredArgument> made;
    if (with == nullptr) return made;
    Problems problems;
    for (const Node::Entry& one : with->value->entries)
      problems.attempt([&] { made.push_back(argument(one)); });
    problems.settle();
    return made;
  }

  DeclaredArgument argument(const Node::Entry& one) const {
    const cases::Spot spot{one.key, one.key->text};
    DeclaredArgument made{.param = one.key->text, .where = cases::location_of(*one.key), .value = {}};
    if (one.value->is_map()) {
      made.value = quantization(one);
    } else if (one.value->is_list()) {
      std::vector<PlacedExpression> entries;
      for (const Node* item : one.value->items) entries.push_back(expression_of(*item, spot, scope_));
      made.value = std::move(entries);
    } else if (is_word(*one.value)) {
      made.value = one.value->text;
    } else {
      made.value = expression_of(*one.value, spot, scope_);
    }
    return made;
  }

  /// Whether it is a name alone: of a parameter, or a word of a choice.
  static bool is_word(const Node& value) {
    const auto is_letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    const bool is_number = !value.text.empty() && value.text[0] >= '0' && value.text[0] <= '9';
    return value.is_scalar() && !is_number && std::ranges::all_of(value.text, is_letter);
  }

  DeclaredArgument::Quantization quantization(const Node::Entry& one) const {
    static const std::vector<std::string> keys{"scale", "zero_point"};
    cases::check_keys(*one.value, keys);
    const Node::Entry& scale = required(*one.value, "scale", *one.key, "a quantization");
    const Node::Entry& zero_point = required(*one.value, "zero_point", *one.key, "a quantization");
    return {expression_of(*scale.value, {scale.key, "scale"}, scope_),
            expression_of(*zero_point.value, {zero_point.key, "zero_point"}, scope_)};
  }

  std::map<std::string, std::string> tensors() const {
    const Node::Entry* given = map_at(map_, "tensors", "a map: the other op's tensors and those of this one");
    std::map<std::string, std::string> made;
    if (given == nullptr) return made;
    std::vector<std::string> known;
    for (const DeclaredTensor& tensor : manifest_.tensors) known.push_back(tensor.name);
    for (const Node::Entry& one : given->value->entries) {
      const std::string& own = cases::to_text(*one.value, {one.key, one.key->text});
      if (std::ranges::find(known, own) == known.end())
        throw cases::unknown_name(*one.value, "tensor", own, known);
      made[one.key->text] = own;
    }
    return made;
  }

  const Node& map_;
  const Manifest& manifest_;
  const Scope& scope_;
};

}  // namespace

DeclaredReference read_reference(const Node::Entry& entry, const Manifest& so_far, const Scope& scope) {
  const Node& map = *entry.value;
  if (map.is_scalar() && map.text == "cases") return DeclaredByCases{};
  if (!map.is_map()) {
    cases::wrong_type(map, {entry.key, "reference"},
                      "{python: FILE}, {op: NAME}, or `cases` where each case brings its answers");
  }
  if (map.find_entry("op") != nullptr) return OtherOpReader(map, so_far, scope).read();
  static const std::vector<std::string> keys{"python", "function"};
  cases::check_keys(map, keys);
  const Node::Entry& python = required(map, "python", *entry.key, "the reference");
  DeclaredPython made{.file = file_in(so_far.folder, *python.value, {python.key, "python"}),
                      .function = text_in(map, "function")};
  if (made.function.empty()) made.function = so_far.op;
  return made;
}

}  // namespace assay::external
