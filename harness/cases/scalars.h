#pragma once

#include "harness/cases/yaml_tree.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace assay::cases {

/// Where a value was written: the caret of its errors, and the name that they use.
struct Spot {
  const Node* caret = nullptr;
  std::string name;
};

// What a plain scalar is. Decimal digits only: 0x10, 0o17, 010, 1_000 and 1e3 are no integers; `yes`, `on`
// and `True` are no booleans; nan and inf are no numbers; what stands in quotes is text.
std::optional<std::int64_t> as_integer(const Node& value);
std::optional<std::uint64_t> as_unsigned(const Node& value);
std::optional<double> as_number(const Node& value);  ///< finite; a decimal that a double can hold
std::optional<float> as_float(const Node& value);    ///< rounded once, from the decimal
std::optional<bool> as_boolean(const Node& value);

// The same, or a Problem that says what was wanted and what is there.
std::int64_t to_integer(const Node& value, const Spot& spot);
std::uint64_t to_unsigned(const Node& value, const Spot& spot);
double to_number(const Node& value, const Spot& spot);
float to_float32(const Node& value, const Spot& spot);
bool to_boolean(const Node& value, const Spot& spot);
const std::string& to_text(const Node& value, const Spot& spot);

/// Throws "'name' must be `wanted`, got ...", with the nearest of `known` to a text.
[[noreturn]] void wrong_type(const Node& value, const Spot& spot, std::string_view wanted,
                             std::span<const std::string> known = {});

/// The same for the value of a key that may have `each`: a list where one value is wanted is shown as its
/// axis.
[[noreturn]] void wrong_value(const Node& value, const Spot& spot, std::string_view wanted,
                              std::span<const std::string> known = {});

/// "unknown key 'shpae'", with the nearest known name; `what` is "key", "op", ...
Problem unknown_name(const Node& caret, std::string_view what, std::string_view name,
                     std::span<const std::string> known);

/// Throws Problem for the keys of `map` that are not known.
void check_keys(const Node& map, std::span<const std::string> known);

}  // namespace assay::cases
