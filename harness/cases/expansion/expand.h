#pragma once

#include "harness/cases/yaml/yaml_tree.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace assay::cases {

/// Returns "model", "layer", "calls" and "step_tokens", which say which layer in which step of which model a
/// case stands for. They are labels for reports: no data, reference or impl depends on them.
std::span<const std::string> model_keys();
bool is_model_key(std::string_view key);

/// Says how a value of a case is read: whether names of sets are replaced in it, and how it becomes a segment
/// of an id.
struct Style {
  enum class Kind : std::uint8_t {
    Plain,   ///< by its value
    Tune,    ///< names before values: "local_size64"
    Hidden,  ///< no segment: forms and impl have their own, at the end
    With,    ///< a map of case keys, each in its own style
  };
  Kind kind = Kind::Plain;
  bool sets = true;
  std::string prefix;  ///< of the segment, such as a tunable's name

  /// Returns the style of the value under `key` inside a value of this style.
  Style below(std::string_view key) const;
};

/// Returns the style of the value of a case's key.
Style style_of(std::string_view key);

/// Returns a value as a segment of an id, with characters [A-Za-z0-9_.] only. The name of a set is used if
/// one was written. Otherwise lists are joined by 'x', maps by '.'; qparams are scale_zp, fills their names,
/// .npy files their stems, and numbers have their shortest form with 'm' for minus. A map of case keys with a
/// `layer` is represented by that alone.
std::string segment_of(const Node& value, const Style& style);

/// Returns the `layer` of a map of case keys, which names the map; null if there is none.
const Node* layer_of(const Node& value, const Style& style);

/// Replaces every character other than [A-Za-z0-9_.] by '_'.
std::string id_text(std::string_view text);

/// Joins parts: "a.b.c".
std::string joined(std::span<const std::string> parts, char separator);

/// The named values of a file and of the files that it includes.
class Sets {
 public:
  /// Returns false if the name is taken.
  bool add(const Node* key, const Node* value);
  const Node::Entry* find(std::string_view name) const;
  std::vector<std::string> names() const;
  const std::map<std::string, Node::Entry, std::less<>>& all() const { return sets_; }

 private:
  std::map<std::string, Node::Entry, std::less<>> sets_;
};

/// One choice for every `each` in a value.
struct Alternative {
  const Node* value = nullptr;        ///< without `each`; names of sets replaced by their values
  std::vector<std::string> segments;  ///< parts of an id, one for each outermost `each`
};

/// The size of a value's expansion, computed without expanding it.
struct Extent {
  std::uint64_t alternatives = 1;  ///< saturating
  std::uint64_t nodes = 1;         ///< nodes of the largest alternative, saturating
};

/// Expands `each` and names of sets. The sets and nodes must outlive this object. It owns the new nodes, so
/// its results are valid only while it lives.
class Expander {
 public:
  explicit Expander(const Sets& sets) : sets_(sets) {}

  /// Throws Problem for a malformed `each` and for sets that refer to themselves.
  Extent extent(const Node& value, const Style& style);

  /// Returns all alternatives, with the first axis varying slowest. Only for values whose extent() is small.
  std::vector<Alternative> expand(const Node& value, const Style& style);

  /// Returns true for `{each: [...]}` and for the name of a set that is one.
  bool is_axis(const Node& value, const Style& style) const;

 private:
  const Node::Entry* set_named_by(const Node& value, const Style& style) const;
  Extent extent_of_set(const Node& name, const Node::Entry& set, const Style& style);
  Extent extent_of_each(const Node& each, const Style& style);
  Extent extent_of_parts(const Node& value, const Style& style);
  std::vector<Alternative> expand_set(const Node& name, const Node::Entry& set, const Style& style);
  std::vector<Alternative> expand_each(const Node& each, const Style& style);
  std::vector<Alternative> expand_parts(const Node& value, const Style& style);
  const Node* rebuilt(const Node& value, const std::vector<const Node*>& parts);

  const Sets& sets_;
  Arena arena_;
  /// Extents by node and the two properties of the style that matter: whether names of sets are replaced, and
  /// whether it is a map of case keys.
  using Known = std::map<std::tuple<const Node*, bool, bool>, Extent>;
  Known known_;
  std::vector<std::string_view> open_sets_;
};

/// Returns the list under `each`, or null if the value is not `{each: [...]}`.
const Node* each_list(const Node& value);

}  // namespace assay::cases
