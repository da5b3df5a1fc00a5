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
  static constexpr std::size_t max_bytes = 4096;
  static constexpr int max_depth = 64;

  /// Throws ExpressionError, also for a text that is longer or more deeply nested than anybody writes.
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

}  // namespace assay::external
