#include "harness/report/html/json_columns.h"

#include "harness/base/text.h"

#include <cmath>

namespace assay {
namespace {

/// Rounds to significant digits. 10^n is exact up to n = 22, so rounding by it is, too.
double rounded(double value, int digits) {
  const int exponent = digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(value))));
  const double power = std::pow(10.0, std::abs(exponent));
  return exponent < 0 ? std::round(value / power) * power : std::round(value * power) / power;
}

}  // namespace

Json json_text(std::string_view text) {
  return printable(text);
}

Json json_number(double value, int digits) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (std::abs(value) < 1e-300) return 0;
  const double shown = rounded(value, digits);
  constexpr double most_exact = 9e15;
  if (shown == std::floor(shown) && std::abs(shown) < most_exact) return static_cast<std::int64_t>(shown);
  return shown;
}

std::string json_dump(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

void WordColumn::add(std::string_view text) {
  const auto [at, is_new] = places_.try_emplace(std::string(text), places_.size());
  if (is_new) words_.push_back(json_text(text));
  rows_.push_back(at->second);
}

Json WordColumn::json() const {
  return {{"words", words_}, {"rows", rows_}};
}

}  // namespace assay
