#include "harness/cases/param_text.h"

#include "harness/base/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <string_view>
#include <vector>

namespace assay::cases {
namespace {

std::string range_of(std::int64_t low, std::int64_t high) {
  const bool no_low = low == std::numeric_limits<std::int32_t>::min();
  const bool no_high = high == std::numeric_limits<std::int32_t>::max();
  if (no_low && no_high) return "";
  if (no_high) return fmt::format(">= {}", low);
  if (no_low) return fmt::format("<= {}", high);
  return fmt::format("{}..{}", low, high);
}

std::string number_range(const ParamSpec& param) {
  std::vector<std::string> parts;
  if (param.positive) parts.emplace_back("> 0");
  if (param.min_number > -std::numeric_limits<double>::infinity()) {
    parts.push_back(fmt::format(">= {}", param.min_number));
  }
  if (param.max_number < std::numeric_limits<double>::infinity()) {
    parts.push_back(fmt::format("<= {}", param.max_number));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string length_of(const ParamSpec& param, std::string_view what) {
  if (param.min_rank == param.max_rank) return fmt::format("{} {}", param.min_rank, what);
  return fmt::format("{} to {} {}", param.min_rank, param.max_rank, what);
}

}  // namespace

std::string type_text(const ParamSpec& param) {
  static constexpr Names<7> names{"shape", "integer", "number", "boolean", "choice", "integers", "qparams"};
  return std::string(name_in(names, param.kind));
}

std::string limits_text(const ParamSpec& param) {
  switch (param.kind) {
    case ParamSpec::Kind::Shape:
      return length_of(param, "dims >= 1");
    case ParamSpec::Kind::Ints: {
      const std::string range = range_of(param.min_integer, param.max_integer);
      return length_of(param, "entries") + (range.empty() ? "" : " " + range);
    }
    case ParamSpec::Kind::Integer:
      return range_of(param.min_integer, param.max_integer);
    case ParamSpec::Kind::Number:
      return number_range(param);
    case ParamSpec::Kind::Boolean:
      return "true | false";
    case ParamSpec::Kind::Choice:
      return fmt::format("{}", fmt::join(param.choices, " | "));
    case ParamSpec::Kind::QParams:
      return fmt::format("scale > 0, zero_point {}..{}", param.zero_point_min, param.zero_point_max);
  }
  return {};
}

std::string default_text(const ParamSpec& param) {
  if (param.derive) return "has a default";
  return param.fallback ? "default " + to_string(*param.fallback) : "required";
}

}  // namespace assay::cases
