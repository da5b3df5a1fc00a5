#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

}  // namespace assay::external
