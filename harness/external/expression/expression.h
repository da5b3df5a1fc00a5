#pragma once

#include "harness/external/expression/expression_value.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace assay::external {

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
