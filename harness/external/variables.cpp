#include "harness/external/variables.h"

#include "harness/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <type_traits>

namespace assay::external {
namespace {

constexpr std::string_view device_prefix = "device.";

std::vector<std::int64_t> list_of(std::span<const std::uint32_t> values) {
  return {values.begin(), values.end()};
}

std::optional<Variable> limit_of(const DeviceInfo& device, std::string_view name) {
  if (name == "max_workgroup_invocations") return std::int64_t{device.max_workgroup_invocations};
  if (name == "max_workgroup_size") return list_of(device.max_workgroup_size);
  if (name == "max_workgroup_count") return list_of(device.max_workgroup_count);
  if (name == "max_shared_bytes") return std::int64_t{device.max_shared_bytes};
  if (name == "subgroup_size") return std::int64_t{device.subgroup_size};
  if (name == "shader_cores") return std::int64_t{device.shader_cores_or_assumed()};
  return std::nullopt;
}

std::optional<Variable> fact_of(const TensorSpec& tensor, std::string_view fact) {
  if (fact == "shape") return tensor.shape;
  if (fact == "elements") return numel(tensor.shape);
  if (fact == "bytes") return numel(tensor.shape) * static_cast<std::int64_t>(size_of(tensor.dtype));
  return std::nullopt;
}

std::optional<Variable> param_value(const Params& params, std::string_view name) {
  if (!params.has(name)) return std::nullopt;
  return std::visit(
      [](const auto& value) -> std::optional<Variable> {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, QParams>) {
          return std::nullopt;
        } else if constexpr (std::is_same_v<T, bool>) {
          return std::int64_t{value};
        } else {
          return value;
        }
      },
      params.at(name));
}

}  // namespace

std::optional<Variable> Variables::find(std::string_view name) const {
  if (auto value = param_value(params, name)) return value;
  if (device != nullptr && name.starts_with(device_prefix))
    return limit_of(*device, name.substr(device_prefix.size()));
  if (impl != nullptr) {
    const auto tunable = std::ranges::find(impl->tunables, name, &Tunable::name);
    if (tunable != impl->tunables.end()) {
      const auto given = tune->find(tunable->name);
      return given == tune->end() ? tunable->fallback : given->second;
    }
  }
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view owner = name.substr(0, dot), fact = name.substr(dot + 1);
  if (params.has(owner) && std::holds_alternative<QParams>(params.at(owner))) {
    const QParams& q = params.qparams(owner);
    if (fact == "scale") return double{q.scale};
    if (fact == "zero_point") return std::int64_t{q.zero_point};
  }
  const auto tensor = std::ranges::find(tensors, owner, &TensorSpec::name);
  return tensor == tensors.end() ? std::nullopt : fact_of(*tensor, fact);
}

DType dtype_at(const DTypeOrParam& dtype, const Params& params) {
  if (const auto* own = std::get_if<DType>(&dtype)) return *own;
  const std::string& word = params.choice(std::get<std::string>(dtype));
  for (const DType one : {DType::F32, DType::F16, DType::I8, DType::U8, DType::I32}) {
    if (name_of(one) == word) return one;
  }
  throw std::logic_error(fmt::format("'{}' is no dtype", word));
}

Shape shape_at(const std::vector<PlacedExpression>& dims, const Lookup& lookup, const std::string& what) {
  constexpr std::int64_t most_elements = std::int64_t{1} << 40;
  Shape shape;
  std::int64_t elements = 1;
  for (const PlacedExpression& dim : dims) {
    const std::int64_t size = dim.evaluate(lookup);
    if (size < 1) {
      throw Error(fmt::format("{}: dim {} of {}, '{}', is {}, and must be at least 1", dim.place(),
                              shape.size(), what, dim.expression.text(), size));
    }
    if (size > most_elements / elements) {
      throw Error(fmt::format("{}: {} has more than 2^40 elements: dim {} is {}", dim.place(), what,
                              shape.size(), size));
    }
    elements *= size;
    shape.push_back(size);
  }
  return shape;
}

}  // namespace assay::external
