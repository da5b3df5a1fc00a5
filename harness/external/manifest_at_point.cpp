#include "harness/external/manifest_at_point.h"

#include "harness/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
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

Variables variables_of(const DeclaredImpl& impl, const ImplPoint& at, const DeviceInfo* device) {
  return {.params = at.params, .tensors = at.tensors, .impl = &impl, .tune = &at.tune, .device = device};
}

bool is_left_out(const DeclaredDispatch& dispatch, const Lookup& lookup) {
  return dispatch.when && dispatch.when->evaluate(lookup) == 0;
}

/// `what` is "workgroups" or "invocations in a workgroup".
std::array<std::int64_t, 3> sides_at(const DeclaredDispatch& dispatch,
                                     const std::vector<PlacedExpression>& sides, const char* what,
                                     const Lookup& lookup) {
  std::array<std::int64_t, 3> count{1, 1, 1};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    count[i] = sides[i].evaluate(lookup);
    if (count[i] < 1) {
      throw Error(fmt::format("{}: dispatch '{}' has {} {} along {}, and must have at least 1",
                              sides[i].place(), dispatch.label, count[i], what, "xyz"[i]));
    }
  }
  return count;
}

std::array<std::int64_t, 3> workgroups_at(const DeclaredDispatch& dispatch, const Lookup& lookup) {
  return sides_at(dispatch, dispatch.workgroups, "workgroups", lookup);
}

constexpr std::int64_t most_that_fits = std::numeric_limits<std::uint32_t>::max();

std::array<std::uint32_t, 3> local_size_at(const DeclaredDispatch& dispatch, const Lookup& lookup) {
  if (dispatch.local_size.empty()) return {};
  std::array<std::uint32_t, 3> size{};
  const auto sides = sides_at(dispatch, dispatch.local_size, "invocations in a workgroup", lookup);
  // The device's limit is checked with the rest of the program.
  std::ranges::transform(sides, size.begin(), [](std::int64_t side) {
    return static_cast<std::uint32_t>(std::min(side, most_that_fits));
  });
  return size;
}

std::vector<NamedNumber> numbers_at(const std::vector<NamedExpression>& expressions, const Lookup& lookup) {
  std::vector<NamedNumber> numbers;
  for (const NamedExpression& one : expressions)
    numbers.push_back({one.name, one.value.evaluate_number(lookup)});
  return numbers;
}

Define define_at(const DeclaredDefine& define, const Params& params, const Lookup& lookup) {
  if (const auto* text = std::get_if<std::string>(&define.value)) return {define.name, *text};
  if (const auto* value = std::get_if<PlacedExpression>(&define.value))
    return {define.name, fmt::format("{}", value->evaluate(lookup))};
  const auto& [param, texts] =
      std::get<std::pair<std::string, std::map<std::string, std::string>>>(define.value);
  return {define.name, texts.at(params.choice(param))};
}

/// `#define PARAM_WORD 1` for what each choice parameter is, such as DTYPE_F16, where that makes a name.
std::vector<Define> defines_of_choices(const Manifest& manifest, const Params& params) {
  std::vector<Define> defines;
  for (const ParamSpec& param : manifest.params) {
    if (param.kind != ParamSpec::Kind::Choice) continue;
    std::string name = param.name + "_" + params.choice(param.name);
    for (char& c : name) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    const auto is_fine = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    if (std::ranges::all_of(name, is_fine)) defines.push_back({name, "1"});
  }
  return defines;
}

/// Makes the dispatches of one program.
class ProgramBuilder {
 public:
  ProgramBuilder(const Manifest& manifest, const DeclaredImpl& impl, const BuildContext& at)
      : manifest_(manifest),
        at_(at),
        impl_(impl),
        variables_(variables_of(impl, at, &at.device)),
        lookup_(variables_.lookup()) {}

  Program build() {
    for (std::uint32_t i = 0; i < at_.tensors.size(); ++i)
      resources_.insert_or_assign(at_.tensors[i].name, Resource::tensor(i));  // of inout tensors the output
    for (const DeclaredScratch& scratch : impl_.scratch) add(scratch);
    for (const DeclaredDispatch& dispatch : impl_.dispatches) {
      if (!is_left_out(dispatch, lookup_)) program_.dispatches.push_back(dispatch_at(dispatch));
    }
    if (program_.dispatches.empty()) {
      throw Error(fmt::format("{}: impl '{}' has no dispatch at this point: 'when' leaves all of them out",
                              manifest_.file.string(), impl_.name));
    }
    return std::move(program_);
  }

 private:
  void add(const DeclaredScratch& scratch) {
    resources_.emplace(
        scratch.name, add_scratch(program_, {.name = scratch.name,
                                             .dtype = dtype_at(scratch.dtype, at_.params),
                                             .shape = shape_at(scratch.shape, lookup_,
                                                               fmt::format("the scratch '{}'", scratch.name)),
                                             .is_zero_between_runs = scratch.is_zero_between_runs}));
  }

  Dispatch dispatch_at(const DeclaredDispatch& declared) const {
    Dispatch made{
        .label = declared.label, .shader = declared.shader, .local_size = {1, 1, 1}, .role = declared.role};
    const std::array<std::int64_t, 3> count = workgroups_at(declared, lookup_);
    for (std::size_t i = 0; i < count.size(); ++i) {
      made.workgroups[i] =
          static_cast<std::uint32_t>(std::min(count[i], most_that_fits));  // why_beyond_device() names them
    }
    made.defines = defines_of_choices(manifest_, at_.params);
    for (const DeclaredDefine& define : declared.defines)
      made.defines.push_back(define_at(define, at_.params, lookup_));
    if (declared.subgroup_size) made.subgroup_size = subgroup_size(*declared.subgroup_size);
    ExternalCall& call = made.external.emplace();
    call.folders.push_back(manifest_.folder);
    for (const std::filesystem::path& folder : manifest_.include_folders)
      call.folders.push_back(manifest_.folder / folder);
    call.declared_at = place_text(declared.where);
    call.local_size = local_size_at(declared, lookup_);
    call.constants = numbers_at(declared.constants, lookup_);
    call.push = numbers_at(declared.push, lookup_);
    call.uniforms = numbers_at(declared.uniforms, lookup_);
    for (const DeclaredBinding& binding : declared.bindings) {
      made.bindings.emplace_back(resources_.at(binding.resource));
      call.places.push_back(binding.place);
    }
    return made;
  }

  std::uint32_t subgroup_size(const PlacedExpression& expression) const {
    constexpr std::int64_t most = 128;
    const std::int64_t size = expression.evaluate(lookup_);
    if (size < 0 || size > most || (size & (size - 1)) != 0) {
      throw Error(fmt::format(
          "{}: a subgroup size is a power of two up to {} (0: the driver chooses), and this is {}",
          expression.place(), most, size));
    }
    return static_cast<std::uint32_t>(size);
  }

  const Manifest& manifest_;
  const BuildContext& at_;
  const DeclaredImpl& impl_;
  Variables variables_;
  Lookup lookup_;
  Program program_;
  std::map<std::string, Resource> resources_;
};

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

Program program_at(const Manifest& manifest, const DeclaredImpl& impl, const BuildContext& at) {
  return ProgramBuilder(manifest, impl, at).build();
}

std::optional<std::string> why_excluded(const DeclaredImpl& impl, const ImplPoint& at) {
  const Variables variables = variables_of(impl, at, nullptr);
  for (const DeclaredExclusion& exclusion : impl.exclusions) {
    if (exclusion.when.evaluate(variables.lookup()) != 0) return exclusion.because;
  }
  return std::nullopt;
}

std::optional<std::string> why_beyond_device(const DeclaredImpl& impl, const BuildContext& at) {
  const Variables variables = variables_of(impl, at, &at.device);
  const Lookup lookup = variables.lookup();
  for (const DeclaredDispatch& dispatch : impl.dispatches) {
    if (is_left_out(dispatch, lookup)) continue;
    const std::array<std::int64_t, 3> count = workgroups_at(dispatch, lookup);
    for (std::size_t i = 0; i < count.size(); ++i) {
      const std::int64_t limit = at.device.max_workgroup_count[i];
      if (count[i] > limit) {
        return fmt::format("dispatch '{}' needs {} workgroups along {}, maxComputeWorkGroupCount[{}] is {}",
                           dispatch.label, count[i], "xyz"[i], i, limit);
      }
    }
  }
  return std::nullopt;
}

}  // namespace assay::external
