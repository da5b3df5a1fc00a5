#pragma once

#include "harness/external/expression/expression_value.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay::external {

/// A part of a parsed expression.
struct ExpressionNode {
  enum class Kind : std::uint8_t { Integer, Name, Text, Index, Negative, Not, Binary, Call };

  Kind kind = Kind::Integer;
  std::size_t position = 0;  ///< of a Binary: its operator's
  std::int64_t value = 0;    ///< of an Integer
  std::string text;          ///< the name, text, operator ("and" for "&&") or function
  std::vector<std::shared_ptr<const ExpressionNode>> parts;
};

using ExpressionPart = std::shared_ptr<const ExpressionNode>;

/// Throws ExpressionError.
ExpressionPart parse_expression(std::string_view text);

/// Returns "an integer", "a number", "a word" or "a list".
std::string type_text(const Variable& value);

/// Throws ExpressionError.
Variable value_of(const ExpressionNode& node, const Lookup& lookup);

}  // namespace assay::external
