#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::cases {

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

}  // namespace assay::cases
