#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::cases {

/// How a value of a case is read: whether names of sets stand in it, and how it becomes a segment of an id.
struct Style {
  enum class Kind : std::uint8_t {
    Plain,   ///< by its value
    Tune,    ///< names before values: "local_size64"
    Hidden,  ///< no segment: forms and impl have their own, at the end
    With,    ///< a map of case keys, each in its own style
  };
  Kind kind = Kind::Plain;
  bool sets = true;
  std::string prefix;  ///< of the segment: a tunable's name

  /// The style of what stands under `key` in a value of this style.
  Style below(std::string_view key) const;
};

/// The style of the value of a case's key.
Style style_of(std::string_view key);

}  // namespace assay::cases
