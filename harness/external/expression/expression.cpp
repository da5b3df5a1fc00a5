#include "harness/external/expression/expression.h"

#include "harness/external/expression/expression_node.h"

#include <fmt/format.h>

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

}  // namespace assay::external
