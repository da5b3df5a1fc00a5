#include "harness/gpu/program/specialization.h"

#include "harness/base/error.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace assay::gpu {
namespace {

constexpr std::uint32_t sides = 3;  // dimensions of a workgroup: ids 0, 1, 2

std::string defines_text(const Dispatch& dispatch) {
  std::string text;
  for (const Define& define : dispatch.defines) {
    text += (text.empty() ? " with " : ", ") + define.name + " " + define.value;
  }
  return text;
}

[[noreturn]] void refuse(const Dispatch& dispatch, const std::string& what) {
  throw Error(fmt::format("specializing {}{} for dispatch '{}': {}", dispatch.shader, defines_text(dispatch),
                          dispatch.label, what));
}

/// The names of `constants`, as name_of() gives them, in a list for messages.
std::string listed(const auto& constants, const auto& name_of) {
  std::string text;
  for (const auto& constant : constants) text += (text.empty() ? "" : ", ") + name_of(constant);
  return text.empty() ? "none" : text;
}

/// The ids of the shader's named constants.
std::map<std::string, std::uint32_t> ids_by_name(const Dispatch& dispatch,
                                                 std::span<const DeclaredConstant> declared,
                                                 bool may_have_own) {
  std::map<std::string, std::uint32_t> ids;
  for (const DeclaredConstant& constant : declared) {
    if (constant.id < sides) continue;
    if (constant.name.empty() && may_have_own) continue;
    if (constant.name.empty()) {
      refuse(dispatch, fmt::format("the constant of constant_id {} has no name to be set by", constant.id));
    }
    if (!ids.emplace(constant.name, constant.id).second) {
      refuse(dispatch, fmt::format("the shader declares two constants '{}'", constant.name));
    }
  }
  return ids;
}

/// The constants of a resolved call, whose names are ids (external_call.h).
std::map<std::uint32_t, std::uint32_t> by_id(const Dispatch& dispatch) {
  std::map<std::uint32_t, std::uint32_t> values;
  for (const SpecConstant& constant : dispatch.constants)
    values[static_cast<std::uint32_t>(std::stoul(constant.name))] = constant.value;
  return values;
}

/// The values of `dispatch.constants` by id. Takes the ids from `unset` and removes those that are set.
std::map<std::uint32_t, std::uint32_t> set_by_op(const Dispatch& dispatch,
                                                 std::map<std::string, std::uint32_t>& unset) {
  const std::map<std::string, std::uint32_t> declared = unset;
  std::map<std::uint32_t, std::uint32_t> values;
  for (const SpecConstant& constant : dispatch.constants) {
    if (constant.name == guard_words) refuse(dispatch, "'guard_words' is set by the runner, not by an op");
    const auto found = declared.find(constant.name);
    if (found == declared.end()) {
      refuse(dispatch,
             fmt::format("the op sets the constant '{}', which this variant of the shader does not "
                         "declare; it declares: {}",
                         constant.name, listed(declared, [](const auto& entry) { return entry.first; })));
    }
    if (!values.emplace(found->second, constant.value).second) {
      refuse(dispatch, fmt::format("the op sets the constant '{}' twice", constant.name));
    }
    unset.erase(constant.name);
  }
  return values;
}

}  // namespace

std::map<std::uint32_t, std::uint32_t> specialization(const Dispatch& dispatch,
                                                      std::span<const std::uint32_t> spirv,
                                                      std::uint32_t guard, bool may_have_own) {
  if (dispatch.external) return by_id(dispatch);
  return specialization(dispatch, declared_constants(spirv), guard, may_have_own);
}

std::map<std::uint32_t, std::uint32_t> specialization(const Dispatch& dispatch,
                                                      std::span<const DeclaredConstant> declared,
                                                      std::uint32_t guard, bool may_have_own) {
  if (dispatch.external) return by_id(dispatch);
  std::map<std::string, std::uint32_t> unset = ids_by_name(dispatch, declared, may_have_own);
  const auto guard_id = unset.extract(std::string(guard_words));
  std::map<std::uint32_t, std::uint32_t> values = set_by_op(dispatch, unset);
  if (!unset.empty() && !may_have_own) {
    refuse(dispatch,
           fmt::format("the shader declares the constant '{}', which the op does not set; it sets: {}",
                       unset.begin()->first,
                       listed(dispatch.constants, [](const SpecConstant& set) { return set.name; })));
  }
  for (std::uint32_t i = 0; i < sides; ++i) values[i] = dispatch.local_size[i];
  if (guard_id) values[guard_id.mapped()] = guard / static_cast<std::uint32_t>(sizeof(std::uint32_t));
  return values;
}

}  // namespace assay::gpu
