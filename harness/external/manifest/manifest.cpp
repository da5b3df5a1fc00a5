#include "harness/external/manifest/manifest.h"

#include "harness/base/error.h"

#include <fmt/format.h>

namespace assay::external {
namespace {

[[noreturn]] void throw_placed(const PlacedExpression& placed, const ExpressionError& error) {
  const SourceLocation& where = placed.where;
  throw Error(fmt::format("{}:{}:{}: in '{}': {}", where.file, where.line,
                          where.column + static_cast<int>(error.position()), placed.expression.text(),
                          error.what()));
}

}  // namespace

std::string place_text(const SourceLocation& where) {
  return fmt::format("{}:{}:{}", where.file, where.line, where.column);
}

std::string PlacedExpression::place() const {
  return place_text(where);
}

std::int64_t PlacedExpression::evaluate(const Lookup& lookup) const try {
  return expression.evaluate(lookup);
} catch (const ExpressionError& error) {
  throw_placed(*this, error);
}

Number PlacedExpression::evaluate_number(const Lookup& lookup) const try {
  return expression.evaluate_number(lookup);
} catch (const ExpressionError& error) {
  throw_placed(*this, error);
}

}  // namespace assay::external
