#pragma once

#include "harness/cases/yaml/yaml_tree.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace assay::cases {

/// Where a value was written: `caret` is the place of its errors, `name` is what they call it.
struct Spot {
  const Node* caret = nullptr;
  std::string name;
};

// These functions classify a plain scalar. Only decimal digits count: 0x10, 0o17, 010, 1_000 and 1e3 are not
// integers; `yes`, `on` and `True` are not booleans; nan and inf are not numbers; quoted values are text.
std::optional<std::int64_t> as_integer(const Node& value);
std::optional<std::uint64_t> as_unsigned(const Node& value);
std::optional<double> as_number(const Node& value);  ///< finite; a decimal number that a double can represent
std::optional<float> as_float(const Node& value);    ///< rounded once, from the decimal text
std::optional<bool> as_boolean(const Node& value);

// These functions convert, or throw a Problem that says what was wanted and what was found.
std::int64_t to_integer(const Node& value, const Spot& spot);
std::uint64_t to_unsigned(const Node& value, const Spot& spot);
double to_number(const Node& value, const Spot& spot);
float to_float32(const Node& value, const Spot& spot);
bool to_boolean(const Node& value, const Spot& spot);
const std::string& to_text(const Node& value, const Spot& spot);

/// Throws "'name' must be `wanted`, got ...", with a suggestion from `known` if the value is text.
[[noreturn]] void wrong_type(const Node& value, const Spot& spot, std::string_view wanted,
                             std::span<const std::string> known = {});

/// Throws as wrong_type() does, for a key that may have `each`: a list where one value is wanted is suggested
/// as its axis.
[[noreturn]] void wrong_value(const Node& value, const Spot& spot, std::string_view wanted,
                              std::span<const std::string> known = {});

/// Returns the problem "unknown key 'shpae'" with the nearest known name; `what` is "key", "op", ...
Problem unknown_name(const Node& caret, std::string_view what, std::string_view name,
                     std::span<const std::string> known);

/// Throws Problem for the keys of `map` that are not in `known`.
void check_keys(const Node& map, std::span<const std::string> known);

/// Returns the entry of a map. Throws Problem "<of> has no '<key>'" at `caret`.
const Node::Entry& required(const Node& map, const std::string& key, const Node& caret,
                            const std::string& of);

}  // namespace assay::cases
