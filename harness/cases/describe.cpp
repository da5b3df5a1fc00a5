#include "harness/cases/describe.h"

#include "harness/base/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

namespace assay {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// Columns as wide as their longest cell, two blanks between them, two before each row.
std::string aligned(const Rows& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format(" {:<{}} ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

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

std::string type_of(const ParamSpec& param) {
  static constexpr Names<7> names{"shape", "integer", "number", "boolean", "choice", "integers", "qparams"};
  return std::string(name_in(names, param.kind));
}

std::string limits_of(const ParamSpec& param) {
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

std::string default_of(const ParamSpec& param) {
  if (param.derive) return "has a default";
  return param.fallback ? "default " + to_string(*param.fallback) : "required";
}

std::string describe_params(const Op& op) {
  Rows rows;
  for (const ParamSpec& param : op.params) {
    rows.push_back({param.name, type_of(param), limits_of(param), default_of(param), param.doc});
  }
  return aligned(rows);
}

std::string describe_tensors(const Op& op, const Case* example) {
  if (example == nullptr)
    return "  they depend on the parameters; no case of this op is loaded to show them for\n";
  Rows rows;
  for (const TensorSpec& tensor : example->tensors) {
    std::vector<std::string> forms;
    for (const Form form : tensor.forms) forms.push_back(to_string(form));
    rows.push_back({tensor.name, tensor.is_input() ? "input" : "output", std::string(name_of(tensor.dtype)),
                    to_string(tensor.shape),
                    tensor.is_input() ? "" : std::string(name_of(tensor.output_class)),
                    fmt::format("{}", fmt::join(forms, " "))});
  }
  return aligned(rows) + fmt::format("  (of the case {}: the tensors of {} depend on its parameters)\n",
                                     example->id, op.name);
}

std::string describe_impls(const Op& op) {
  std::string text;
  for (const Impl& impl : op.impls) {
    text += fmt::format("  {}{}\n", impl.name, impl.summary.empty() ? "" : ": " + impl.summary);
    std::vector<std::string> needs;
    for (const Feature feature : impl.needs) needs.emplace_back(name_of(feature));
    if (!needs.empty()) text += fmt::format("    needs {}\n", fmt::join(needs, ", "));
    for (const Tunable& tunable : impl.tunables) {
      const std::string fallback =
          tunable.fallback == 0 ? "chosen by the impl" : std::to_string(tunable.fallback);
      text += fmt::format("    tune {} {}..{}, default {}{}\n", tunable.name, tunable.min, tunable.max,
                          fallback, tunable.doc.empty() ? "" : ": " + tunable.doc);
    }
  }
  return text;
}

}  // namespace

std::string list_cases(std::span<const Case* const> cases, bool details) {
  if (details) {
    Rows rows;
    for (const Case* test_case : cases) {
      rows.push_back({test_case->id, std::string(name_of(test_case->mode)),
                      std::string(name_of(test_case->tier)),
                      fmt::format("{}:{}", test_case->where.file, test_case->where.line)});
    }
    return aligned(rows);
  }
  std::string text;
  for (const Case* test_case : cases) text += test_case->id + '\n';
  return text;
}

std::string list_ops(const Registry& registry) {
  Rows rows;
  for (const Op& op : registry.ops()) rows.push_back({op.name, op.summary});
  return aligned(rows);
}

std::string describe_op(const Op& op, const Case* example) {
  return fmt::format("{}: {}\n\nparameters\n{}\ntensors\n{}\nimpls\n{}", op.name, op.summary,
                     describe_params(op), describe_tensors(op, example), describe_impls(op));
}

}  // namespace assay
