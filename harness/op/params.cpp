#include "harness/op/params.h"

#include "harness/base/error.h"
#include "harness/tensor/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace assay {
namespace {

struct ToText {
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const std::vector<std::int64_t>& value) const { return assay::to_string(value); }
  std::string operator()(const QParams& value) const {
    return fmt::format("{}:{}", value.scale, value.zero_point);
  }
};

/// Returns the value with that name and type. A wrong type is a bug in the op, not in a case file.
template <class T>
const T& get(const Params& params, std::string_view name, std::string_view type) {
  if (const T* value = std::get_if<T>(&params.at(name))) return *value;
  throw std::logic_error(
      fmt::format("parameter {}={} was read as {}", name, to_string(params.at(name)), type));
}

}  // namespace

std::string to_string(const Value& value) {
  return std::visit(ToText{}, value);
}

bool Params::has(std::string_view name) const {
  return values_.find(name) != values_.end();
}

const Value& Params::at(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw std::logic_error(fmt::format("there is no parameter {}", name));
  return found->second;
}

std::int64_t Params::integer(std::string_view name) const {
  return get<std::int64_t>(*this, name, "an integer");
}

double Params::number(std::string_view name) const {
  return get<double>(*this, name, "a number");
}

bool Params::boolean(std::string_view name) const {
  return get<bool>(*this, name, "a boolean");
}

const std::string& Params::choice(std::string_view name) const {
  return get<std::string>(*this, name, "a choice");
}

const std::vector<std::int64_t>& Params::ints(std::string_view name) const {
  return get<std::vector<std::int64_t>>(*this, name, "a list of integers");
}

const QParams& Params::qparams(std::string_view name) const {
  return get<QParams>(*this, name, "qparams");
}

std::string Params::canonical() const {
  std::string text;
  for (const auto& [name, value] : values_) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}={}", name, to_string(value));
  }
  return text;
}

}  // namespace assay
