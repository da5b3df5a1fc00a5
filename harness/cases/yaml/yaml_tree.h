#pragma once

#include "harness/cases/yaml/source_file.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cases {

struct Node;

/// Why a map is not acceptable in any place: a duplicate key, a merge key, or a key that is not a name.
struct Flaw {
  enum class Kind : std::uint8_t { DuplicateKey, MergeKey, KeyIsNoName };
  Kind kind = Kind::DuplicateKey;
  const Node* at = nullptr;
  const Node* first = nullptr;  ///< for DuplicateKey: the first key with that name
};

/// A value of a YAML file. Aliases are pointers to the anchored node, so trees may share nodes.
struct Node {
  enum class Kind : std::uint8_t { Null, Scalar, List, Map };
  struct Entry {
    const Node* key = nullptr;
    const Node* value = nullptr;
  };

  Kind kind = Kind::Null;
  const SourceFile* file = nullptr;
  Mark mark;
  std::string text;     ///< for a scalar
  bool quoted = false;  ///< quoted and block scalars are always text
  std::vector<const Node*> items;
  std::vector<Entry> entries;  ///< in the order written; duplicates are kept as flaws
  std::vector<Flaw> flaws;     ///< of this map only
  bool flawed = false;         ///< this node or one below it has flaws
  std::uint64_t weight = 1;    ///< nodes of the tree below, with aliases expanded (saturating)
  std::string set_name;        ///< for a value that was written as the name of a set

  bool is_null() const { return kind == Kind::Null; }
  bool is_scalar() const { return kind == Kind::Scalar; }
  bool is_list() const { return kind == Kind::List; }
  bool is_map() const { return kind == Kind::Map; }
  bool is_plain(std::string_view value) const { return is_scalar() && !quoted && text == value; }

  /// Returns the value of the first entry with this key, or null.
  const Node* find(std::string_view key) const;
  const Entry* find_entry(std::string_view key) const;
};

/// Owns nodes; their addresses are stable.
using Arena = std::deque<Node>;

/// Limits that a file written by hand never reaches.
struct TreeLimits {
  int depth = 64;
  std::uint64_t nodes = 1000000;  ///< with aliases expanded
};

/// Calls `visit` once for every flaw at or below a node, until it returns false.
void for_each_flaw(const Node& node, const std::function<bool(const Flaw&)>& visit);
Diagnostic diagnose(const Flaw& flaw);

/// Describes a node within a line, for messages about a wrong type: "the text 'abc'", "a list", "nothing".
std::string describe(const Node& node);

SourceLocation location_of(const Node& node);
Diagnostic diagnose(const Node& at, std::string message, std::string suggestion = {});

/// These functions return a + b and a * b, limited to the largest value.
std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b);
std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b);

}  // namespace assay::cases
