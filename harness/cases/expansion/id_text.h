#pragma once

#include "harness/cases/yaml/yaml_tree.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace assay::cases {

/// Returns "model", "layer" and "calls", which say which layer of which model a case stands for. They are
/// labels for reports: no data, reference or impl depends on them.
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

}  // namespace assay::cases
