#include "harness/external/expression/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace assay::external {
namespace {

using Kind = ExpressionNode::Kind;

void collect(const ExpressionNode& node, const std::string& compared_with, std::vector<UsedName>& names) {
  if (node.kind == Kind::Name || node.kind == Kind::Text)
    names.push_back({node.text, node.position, node.kind == Kind::Text, compared_with});
  const bool compares = node.kind == Kind::Binary && (node.text == "==" || node.text == "!=");
  for (std::size_t i = 0; i < node.parts.size(); ++i) {
    const ExpressionNode* other = compares ? node.parts[1 - i].get() : nullptr;
    collect(*node.parts[i], other != nullptr && other->kind == Kind::Name ? other->text : "", names);
  }
}

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

/// Evaluates the parts of one expression.
class Evaluation {
 public:
  explicit Evaluation(const Lookup& lookup) : lookup_(lookup) {}

  Variable value(const ExpressionNode& node) const;

 private:
  std::int64_t integer(const ExpressionNode& node) const;
  std::vector<std::int64_t> list(const ExpressionNode& node) const;
  Variable named(const ExpressionNode& node) const;
  std::int64_t element(const ExpressionNode& node) const;
  std::int64_t binary(const ExpressionNode& node) const;
  std::optional<std::int64_t> compared_words(const ExpressionNode& node) const;
  std::optional<std::string> word(const ExpressionNode& node, bool may_be_unknown) const;
  std::int64_t call(const ExpressionNode& node) const;
  std::int64_t call_of_integers(const ExpressionNode& node) const;

  const Lookup& lookup_;
};

[[noreturn]] void overflow(const ExpressionNode& node, const std::string& what) {
  throw ExpressionError(node.position, what + " does not fit 64 bits");
}

std::int64_t divided(const ExpressionNode& node, std::int64_t a, std::int64_t b, bool remainder) {
  if (b == 0) throw ExpressionError(node.position, fmt::format("{} is divided by zero", a));
  if (a == least && b == -1) {
    if (remainder) return 0;
    overflow(node, fmt::format("{} / {}", a, b));
  }
  return remainder ? a % b : a / b;
}

std::int64_t computed(const ExpressionNode& node, char operation, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflows = false;
  switch (operation) {
    case '+':
      overflows = __builtin_add_overflow(a, b, &result);
      break;
    case '-':
      overflows = __builtin_sub_overflow(a, b, &result);
      break;
    case '*':
      overflows = __builtin_mul_overflow(a, b, &result);
      break;
    case '/':
      return divided(node, a, b, false);
    default:
      return divided(node, a, b, true);
  }
  if (overflows) overflow(node, fmt::format("{} {} {}", a, operation, b));
  return result;
}

Variable Evaluation::value(const ExpressionNode& node) const {
  switch (node.kind) {
    case Kind::Integer:
      return node.value;
    case Kind::Name:
      return named(node);
    case Kind::Text:
      throw ExpressionError(node.position, "a quoted text can only be compared with a choice");
    case Kind::Index:
      return element(node);
    case Kind::Negative:
      return computed(node, '-', 0, integer(*node.parts[0]));
    case Kind::Not:
      return std::int64_t{integer(*node.parts[0]) == 0};
    case Kind::Binary:
      return binary(node);
    case Kind::Call:
      return call(node);
  }
  return std::int64_t{0};
}

std::int64_t Evaluation::integer(const ExpressionNode& node) const {
  const Variable found = value(node);
  if (const auto* whole = std::get_if<std::int64_t>(&found)) return *whole;
  throw ExpressionError(node.position,
                        fmt::format("an integer is wanted here, and this is {}{}", type_text(found),
                                    node.kind == Kind::Name ? ": " + node.text : ""));
}

std::vector<std::int64_t> Evaluation::list(const ExpressionNode& node) const {
  const Variable found = value(node);
  if (const auto* all = std::get_if<std::vector<std::int64_t>>(&found)) return *all;
  throw ExpressionError(node.position,
                        fmt::format("a shape or list is wanted here, and this is {}", type_text(found)));
}

Variable Evaluation::named(const ExpressionNode& node) const {
  if (std::optional<Variable> found = lookup_(node.text)) return *std::move(found);
  throw ExpressionError(node.position, fmt::format("'{}' is unknown here", node.text));
}

std::int64_t Evaluation::element(const ExpressionNode& node) const {
  const std::vector<std::int64_t> all = list(*node.parts[0]);
  const std::int64_t index = integer(*node.parts[1]);
  if (index >= 0 && index < static_cast<std::int64_t>(all.size()))
    return all[static_cast<std::size_t>(index)];
  throw ExpressionError(
      node.position,
      fmt::format("index {} is out of range: the list has {} entries, from 0 on", index, all.size()));
}

/// The word that a part stands for, in a comparison with a choice.
std::optional<std::string> Evaluation::word(const ExpressionNode& node, bool may_be_unknown) const {
  if (node.kind == Kind::Text) return node.text;
  if (node.kind != Kind::Name) return std::nullopt;
  const std::optional<Variable> found = lookup_(node.text);
  if (!found) return may_be_unknown ? std::optional(node.text) : std::nullopt;
  const auto* own = std::get_if<std::string>(&*found);
  return own == nullptr ? std::nullopt : std::optional(*own);
}

/// The result of == or != between a choice and a word; nothing where neither is a choice.
std::optional<std::int64_t> Evaluation::compared_words(const ExpressionNode& node) const {
  if (node.text != "==" && node.text != "!=") return std::nullopt;
  for (const std::size_t choice : {0U, 1U}) {
    const ExpressionNode& one = *node.parts[choice];
    const ExpressionNode& other = *node.parts[1 - choice];
    if (one.kind != Kind::Name) continue;
    const std::optional<std::string> chosen = word(one, false);
    if (!chosen) continue;
    const std::optional<std::string> wanted = word(other, true);
    if (!wanted) {
      throw ExpressionError(node.position,
                            fmt::format("'{}' is a word, and the other side is none", one.text));
    }
    return std::int64_t{(*chosen == *wanted) == (node.text == "==")};
  }
  return std::nullopt;
}

std::int64_t Evaluation::binary(const ExpressionNode& node) const {
  if (const auto result = compared_words(node)) return *result;
  const std::string& operation = node.text;
  const std::int64_t a = integer(*node.parts[0]);
  if (operation == "and") return a != 0 && integer(*node.parts[1]) != 0;
  if (operation == "or") return a != 0 || integer(*node.parts[1]) != 0;
  const std::int64_t b = integer(*node.parts[1]);
  if (operation == "==") return a == b;
  if (operation == "!=") return a != b;
  if (operation == "<") return a < b;
  if (operation == "<=") return a <= b;
  if (operation == ">") return a > b;
  if (operation == ">=") return a >= b;
  return computed(node, operation.front(), a, b);
}

std::int64_t Evaluation::call(const ExpressionNode& node) const {
  const bool is_of_list = node.text == "product" || node.text == "rank";
  if (!is_of_list) return call_of_integers(node);
  const std::vector<std::int64_t> all = list(*node.parts[0]);
  if (node.text == "rank") return static_cast<std::int64_t>(all.size());
  std::int64_t product = 1;
  for (const std::int64_t one : all) product = computed(node, '*', product, one);
  return product;
}

std::int64_t Evaluation::call_of_integers(const ExpressionNode& node) const {
  std::vector<std::int64_t> given;
  for (const ExpressionPart& part : node.parts) given.push_back(integer(*part));
  if (node.text == "min") return std::ranges::min(given);
  if (node.text == "max") return std::ranges::max(given);
  if (given[1] <= 0) {
    throw ExpressionError(node.position, fmt::format("the second value of {} must be positive, and is {}",
                                                     node.text, given[1]));
  }
  const std::int64_t quotient = given[0] / given[1] + (given[0] % given[1] > 0 ? 1 : 0);
  return node.text == "ceil_div" ? quotient : computed(node, '*', quotient, given[1]);
}

}  // namespace

Expression Expression::parse(std::string text) {
  ExpressionPart root = parse_expression(text);
  return {std::move(text), std::move(root)};
}

Expression Expression::of(std::int64_t value) {
  return parse(fmt::format("{}", value));
}

std::int64_t Expression::evaluate(const Lookup& lookup) const {
  const Variable found = value_of(*root_, lookup);
  if (const auto* whole = std::get_if<std::int64_t>(&found)) return *whole;
  throw ExpressionError(root_->position,
                        fmt::format("an integer is wanted, and '{}' is {}", text_, type_text(found)));
}

std::variant<std::int64_t, double> Expression::evaluate_number(const Lookup& lookup) const {
  const Variable found = value_of(*root_, lookup);
  if (const auto* real = std::get_if<double>(&found)) return *real;
  return evaluate(lookup);
}

std::vector<UsedName> Expression::names() const {
  std::vector<UsedName> found;
  collect(*root_, "", found);
  return found;
}

std::string type_text(const Variable& value) {
  static constexpr const char* names[] = {"an integer", "a number", "a word", "a list"};
  return names[value.index()];
}

Variable value_of(const ExpressionNode& node, const Lookup& lookup) {
  return Evaluation(lookup).value(node);
}

}  // namespace assay::external
