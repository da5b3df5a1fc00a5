#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay::external {

/// Limits of one expression, far above what a person writes.
inline constexpr std::size_t most_expression_bytes = 4096;
inline constexpr int most_expression_depth = 64;

/// An expression that cannot be parsed or evaluated, and the byte of its text where that shows.
class ExpressionError : public std::runtime_error {
 public:
  ExpressionError(std::size_t position, const std::string& message)
      : std::runtime_error(message), position_(position) {}
  std::size_t position() const { return position_; }

 private:
  std::size_t position_;
};

/// The value of a name: an integer (booleans are 0 and 1), a number, the word of a choice, or a list.
using Variable = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>>;

/// Returns the variable of a name, such as "shape" or "device.subgroup_size"; nothing if there is none.
using Lookup = std::function<std::optional<Variable>(std::string_view)>;

/// A name in an expression.
struct UsedName {
  std::string text;
  std::size_t position = 0;
  bool is_quoted = false;     ///< a quoted text, which can only be such a word
  std::string compared_with;  ///< the name at the other side of == or !=: the word of a choice may be meant
};

struct ExpressionNode;

/// An integer expression of a manifest, with 64 bits and no side effects. From weak to strong:
///
///     or, ||      and, &&      not, !      == != < <= > >=      + -      * / %      -      a[i]
///
/// Division truncates toward zero, as in C. Comparisons give 0 or 1, and any other integer than 0 is true.
/// Functions: min, max, ceil_div(a, b), align(a, to), and of lists product(a), rank(a). A word or quoted text
/// may only be compared with a choice.
class Expression {
 public:
  /// Throws ExpressionError, also for an unknown function and for a text that is longer or more deeply nested
  /// than anybody writes.
  static Expression parse(std::string text);
  /// The constant.
  static Expression of(std::int64_t value);

  const std::string& text() const { return text_; }

  /// Throws ExpressionError: an unknown name, overflow, division by zero, an index out of range, a value of
  /// another type.
  std::int64_t evaluate(const Lookup& lookup) const;
  /// The same, but an expression that is a name alone may also be a number.
  std::variant<std::int64_t, double> evaluate_number(const Lookup& lookup) const;

  std::vector<UsedName> names() const;

 private:
  Expression(std::string text, std::shared_ptr<const ExpressionNode> root)
      : text_(std::move(text)), root_(std::move(root)) {}

  std::string text_;
  std::shared_ptr<const ExpressionNode> root_;
};

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
