#pragma once

#include "harness/cases/source_file.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cases {

struct Node;

/// Why a map is not acceptable whatever it is used for: a duplicate key, a merge key, a key that is no name.
struct Flaw {
  enum class Kind : std::uint8_t { DuplicateKey, MergeKey, KeyIsNoName };
  Kind kind = Kind::DuplicateKey;
  const Node* at = nullptr;
  const Node* first = nullptr;  ///< DuplicateKey: the key of that name that came first
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
  std::string text;     ///< of a scalar
  bool quoted = false;  ///< quoted and block scalars: always text
  std::vector<const Node*> items;
  std::vector<Entry> entries;  ///< in the order written; duplicates are kept, and are flaws
  std::vector<Flaw> flaws;     ///< of this map itself
  bool flawed = false;         ///< this node or one below has flaws
  std::uint64_t weight = 1;    ///< nodes of the tree below, with aliases written out (saturating)
  std::string set_name;        ///< of a value that was written as the name of a set

  bool is_null() const { return kind == Kind::Null; }
  bool is_scalar() const { return kind == Kind::Scalar; }
  bool is_list() const { return kind == Kind::List; }
  bool is_map() const { return kind == Kind::Map; }
  bool is_plain(std::string_view value) const { return is_scalar() && !quoted && text == value; }

  /// The value of the first entry with this key, or null.
  const Node* find(std::string_view key) const;
  const Entry* find_entry(std::string_view key) const;
};

/// Owns nodes; their addresses are stable.
using Arena = std::deque<Node>;

/// Limits that a file written by a person never meets.
struct TreeLimits {
  int depth = 64;
  std::uint64_t nodes = 1000000;  ///< with aliases written out
};

/// Calls `visit` for every flaw below a node, each once, until it returns false.
void for_each_flaw(const Node& node, const std::function<bool(const Flaw&)>& visit);
Diagnostic diagnose(const Flaw& flaw);

/// "the text 'abc'", "a list", "nothing": for messages about a wrong type.
std::string describe(const Node& node);

SourceLocation location_of(const Node& node);
Diagnostic diagnose(const Node& at, std::string message, std::string suggestion = {});

/// a + b and a * b, stopping at the largest value.
std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b);
std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b);

}  // namespace assay::cases
