#include "harness/gpu/program/external_call.h"

#include "harness/base/hash.h"
#include "harness/base/text.h"
#include "harness/gpu/program/interface_check.h"
#include "harness/gpu/program/specialization.h"
#include "harness/gpu/spirv/module_declarations.h"
#include "harness/gpu/spirv/shader_interface.h"
#include "harness/gpu/spirv/spirv_rewrites.h"
#include "harness/tensor/dtype.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace assay::gpu {
namespace {

template <class T>
bool holds(std::int64_t value) {
  return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

/// Whether an integer of that many bits, signed or not, can have the value: a kernel's `int` also holds bits.
bool fits(std::int64_t value, NumberType type) {
  switch (type.bits) {
    case 8:
      return type.kind == NumberType::Kind::Signed ? holds<std::int8_t>(value) : holds<std::uint8_t>(value);
    case 16:
      return type.kind == NumberType::Kind::Signed ? holds<std::int16_t>(value) : holds<std::uint16_t>(value);
    case 32:
      return type.kind == NumberType::Kind::Signed ? holds<std::int32_t>(value) : holds<std::uint32_t>(value);
    default:
      return type.bits == 64 && (type.kind == NumberType::Kind::Signed || value >= 0);
  }
}

constexpr std::size_t most_listed = 24;  ///< names in a message
// The least that Vulkan demands of maxUniformBufferRange and maxPerStageDescriptorUniformBuffers.
constexpr std::size_t most_uniform_bytes = 16384;
constexpr std::size_t most_uniform_blocks = 12;

std::string list_text(const std::vector<std::string>& names) {
  return names.empty() ? "none" : first_names(names, most_listed);
}

std::string place_text(BindingPlace place) {
  return fmt::format("{}.{}", place.set, place.binding);
}

/// "0.1 (x)"
std::string variable_text(const DeclaredVariable& variable) {
  const std::string place = place_text({variable.set, variable.binding});
  return variable.names.empty() ? place : fmt::format("{} ({})", place, fmt::join(variable.names, " or "));
}

/// Whether `path` is `wanted`, or ends in it after a dot: "columns" is enough for "params.columns".
bool ends_in(std::string_view path, std::string_view wanted) {
  if (path == wanted) return true;
  return path.size() > wanted.size() && path.ends_with(wanted) &&
         path[path.size() - wanted.size() - 1] == '.';
}

std::string number_text(const Number& number) {
  return std::visit([](auto value) { return fmt::format("{}", value); }, number);
}

/// Finds what one dispatch names in its module.
class CallResolver {
 public:
  CallResolver(const Dispatch& dispatch, Spirv spirv, const DeviceInfo& device)
      : dispatch_(dispatch), call_(*dispatch.external), spirv_(std::move(spirv)), device_(device) {
    if (call_.local_size[0] != 0) resize();
    declared_ = declarations_of(spirv_.words);
  }

  ResolvedCall resolve() {
    ResolvedCall resolved{.dispatch = dispatch_, .spirv = spirv_, .uniforms = {}};
    resolved.dispatch.constants = constants();
    const std::map<std::uint32_t, std::uint32_t> values =
        specialization(resolved.dispatch, spirv_.words, /*guard=*/0);
    declared_ = declarations_of(spirv_.words, values);  // lengths of arrays in blocks may depend on them
    const ShaderInterface interface = interface_of(spirv_.words, values);
    refuse_empty_workgroup(interface);
    refuse_beyond_device(interface);
    resolved.dispatch.local_size = interface.local_size;
    if (interface.push_bytes > 0) resolved.dispatch.push = push(interface);
    if (interface.push_bytes == 0) refuse_unknown_push();
    place_bindings(resolved, interface);
    place_uniforms(resolved, interface);
    move_variables(resolved.spirv);
    return resolved;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    const std::string& place = call_.declared_at;
    throw Error(fmt::format("{}calling the kernel {} in dispatch '{}': {}", place.empty() ? "" : place + ": ",
                            dispatch_.shader, dispatch_.label, what));
  }

  void resize();
  std::vector<SpecConstant> constants() const;
  const SpecializationConstant& constant(const std::string& name) const;
  void refuse_empty_workgroup(const ShaderInterface& interface) const;
  void refuse_beyond_device(const ShaderInterface& interface) const;
  PushConstants push(const ShaderInterface& interface) const;
  void refuse_unknown_push() const;
  std::vector<std::byte> block_bytes(const std::string& what, std::span<const BlockMember> members,
                                     std::span<const NamedNumber> numbers, std::size_t size) const;
  const BlockMember& member(const std::string& what, std::span<const BlockMember> members,
                            const std::string& name) const;
  BindingPlace place(const std::string& name) const;
  bool asks_length(BindingPlace place) const;
  std::vector<std::string> names_at(BindingPlace place) const;
  void place_bindings(ResolvedCall& resolved, const ShaderInterface& interface);
  void place_uniforms(ResolvedCall& resolved, const ShaderInterface& interface);
  std::vector<NamedNumber> numbers_of(const DeclaredVariable& block, std::set<std::string>& taken) const;
  void move_variables(Spirv& spirv) const;
  std::vector<std::string> variable_texts(bool uniforms) const;

  const Dispatch& dispatch_;
  const ExternalCall& call_;
  Spirv spirv_;
  const DeviceInfo& device_;
  ModuleDeclarations declared_;
  std::map<BindingPlace, std::uint32_t> places_;  ///< the binding in set 0 that each becomes
};

void CallResolver::resize() {
  std::optional<std::vector<std::uint32_t>> words = with_local_size(spirv_.words, call_.local_size);
  if (!words) {
    refuse(
        "its workgroup's size depends on constants or is used as one, so that 'local_size' cannot replace "
        "it: set it where the kernel says it, by constants such as local_size_x or by a define");
  }
  spirv_.words = *std::move(words);
}

/// Several constants of one id, as a `local_size_x_id` and a `constant_id` make them, have one value.
const SpecializationConstant& CallResolver::constant(const std::string& name) const {
  std::map<std::uint32_t, const SpecializationConstant*> found;
  std::vector<std::string> known;
  for (const SpecializationConstant& one : declared_.constants) {
    if (one.name == name || std::to_string(one.id) == name) found.emplace(one.id, &one);
    known.push_back(one.name.empty() ? std::to_string(one.id) : fmt::format("{} ({})", one.id, one.name));
  }
  if (found.size() == 1) return *found.begin()->second;
  refuse(fmt::format("{} specialization constant is called '{}'; declared are: {}",
                     found.empty() ? "no" : "more than one", name, list_text(known)));
}

/// The values by id: a constant's name is its id here.
std::vector<SpecConstant> CallResolver::constants() const {
  std::vector<SpecConstant> values;
  for (const NamedNumber& given : call_.constants) {
    const SpecializationConstant& declared = constant(given.name);
    constexpr std::uint32_t settable_bits = 32;
    const auto bits = encoded(given.value, declared.type);
    if (declared.type.bits != settable_bits || !bits) {
      refuse(fmt::format("the specialization constant '{}' is of type {} and cannot be {}", given.name,
                         type_text(declared.type), number_text(given.value)));
    }
    const std::string id = std::to_string(declared.id);
    if (std::ranges::find(values, id, &SpecConstant::name) != values.end())
      refuse(fmt::format("the specialization constant '{}' is set twice", given.name));
    values.push_back({id, static_cast<std::uint32_t>(*bits)});
  }
  return values;
}

/// The size may be a constant's value, which the manifest gives: drivers crash on 0.
void CallResolver::refuse_empty_workgroup(const ShaderInterface& interface) const {
  for (std::size_t i = 0; i < interface.local_size.size(); ++i) {
    if (interface.local_size[i] > 0) continue;
    refuse(
        fmt::format("it has 0 invocations in a workgroup along {}, and must have at least 1: its size is 0 "
                    "there, or a constant that sets it is",
                    "xyz"[i]));
  }
}

void CallResolver::refuse_beyond_device(const ShaderInterface& interface) const {
  if (const auto need = unmet_need(spirv_.words, interface, device_))
    throw Unsupported(fmt::format("dispatch '{}' needs {}", dispatch_.label, *need));
  const bool divides = dispatch_.subgroup_size == 0 || interface.local_size[0] % dispatch_.subgroup_size == 0;
  if (divides) return;
  refuse(fmt::format("it asks for full subgroups of {}, which do not divide {} invocations along x",
                     dispatch_.subgroup_size, interface.local_size[0]));
}

/// The one member that a name stands for: its whole path, its indices, or the end of a path.
const BlockMember& CallResolver::member(const std::string& what, std::span<const BlockMember> members,
                                        const std::string& name) const {
  std::vector<const BlockMember*> exact, ending;
  std::vector<std::string> known;
  for (const BlockMember& one : members) {
    if (one.path == name || one.numbered == name) exact.push_back(&one);
    if (ends_in(one.path, name)) ending.push_back(&one);
    known.push_back(one.path);
  }
  const auto& found = exact.empty() ? ending : exact;
  if (found.size() == 1) return *found.front();
  refuse(fmt::format("{} of {} is called '{}'; its members are: {}",
                     found.empty() ? "no member" : "more than one member", what, name, list_text(known)));
}

std::vector<std::byte> CallResolver::block_bytes(const std::string& what,
                                                 std::span<const BlockMember> members,
                                                 std::span<const NamedNumber> numbers,
                                                 std::size_t size) const {
  std::vector<std::byte> bytes(size);
  std::set<std::uint32_t> set;
  const auto write = [&](const BlockMember& at, const Number& number) {
    const auto bits = encoded(number, at.type);
    if (!bits) {
      refuse(fmt::format("'{}' of {} is of type {} and cannot be {}", at.path, what, type_text(at.type),
                         number_text(number)));
    }
    const std::size_t count = at.type.bits / 8;
    if (at.offset + count > bytes.size()) refuse(fmt::format("'{}' lies outside of {}", at.path, what));
    std::memcpy(bytes.data() + at.offset, &*bits, count);  // little-endian, as Vulkan's hosts are
  };
  const Number* rest = nullptr;
  for (const NamedNumber& given : numbers) {
    if (given.name == "*") {
      rest = &given.value;
      continue;
    }
    const BlockMember& at = member(what, members, given.name);
    if (!set.insert(at.offset).second) refuse(fmt::format("'{}' of {} is set twice", at.path, what));
    write(at, given.value);
  }
  std::vector<std::string> unset;
  for (const BlockMember& one : members) {
    if (set.contains(one.offset)) continue;
    if (rest != nullptr) write(one, *rest);
    unset.push_back(one.path);
  }
  if (!unset.empty() && rest == nullptr) {
    refuse(
        fmt::format("members of {} get no value: {}; '*' gives one to all others", what, list_text(unset)));
  }
  return bytes;
}

PushConstants CallResolver::push(const ShaderInterface& interface) const {
  constexpr std::size_t word = sizeof(std::uint32_t);
  const std::size_t size = (interface.push_bytes + word - 1) / word * word;
  const bool is_idle = !interface.uses_push && call_.push.empty();
  if (is_idle) return {};
  const std::vector<std::byte> bytes = block_bytes("the push constants", declared_.push, call_.push, size);
  PushConstants made;
  for (std::size_t at = 0; at < size; at += word) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, word);
    made.add(std::int64_t{value});
  }
  return made;
}

void CallResolver::refuse_unknown_push() const {
  if (call_.push.empty()) return;
  refuse(
      fmt::format("the kernel declares no push constants, and '{}' is given one", call_.push.front().name));
}

std::vector<std::string> CallResolver::variable_texts(bool uniforms) const {
  std::vector<std::string> texts;
  for (const DeclaredVariable& one : declared_.variables) {
    if (one.is_uniform == uniforms) texts.push_back(variable_text(one));
  }
  return texts;
}

/// Where a name, or "set.binding", is bound. Several variables may share a place.
BindingPlace CallResolver::place(const std::string& name) const {
  std::set<BindingPlace> found;
  for (const DeclaredVariable& one : declared_.variables) {
    const BindingPlace here{one.set, one.binding};
    const bool is_named = std::ranges::find(one.names, name) != one.names.end();
    if (!one.is_uniform && (is_named || place_text(here) == name)) found.insert(here);
  }
  if (found.size() == 1) return *found.begin();
  refuse(fmt::format("{} is called '{}'; the kernel declares: {}",
                     found.empty() ? "nothing that can be bound" : "more than one binding", name,
                     list_text(variable_texts(false))));
}

bool CallResolver::asks_length(BindingPlace place) const {
  return std::ranges::any_of(declared_.variables, [&](const DeclaredVariable& one) {
    return one.asks_length && BindingPlace{one.set, one.binding} == place;
  });
}

void CallResolver::place_bindings(ResolvedCall& resolved, const ShaderInterface& interface) {
  for (std::size_t i = 0; i < call_.places.size(); ++i) {
    const BindingPlace here = place(call_.places[i]);
    if (!places_.emplace(here, static_cast<std::uint32_t>(i)).second) {
      refuse(
          fmt::format("{} is bound twice: by '{}' and by another name", place_text(here), call_.places[i]));
    }
    Binding& bound = resolved.dispatch.bindings[i];
    bound.range = asks_length(here) ? Binding::Range::Data : Binding::Range::DataAndAfter;
    const bool is_sampled = std::ranges::any_of(interface.bindings, [&](const ShaderBinding& used) {
      return BindingPlace{used.set, used.binding} == here && used.kind == ShaderBinding::Kind::SampledImage;
    });
    if (is_sampled) bound.access = Binding::Access::Sampled;
  }
  for (const ShaderBinding& used : interface.bindings) {
    const BindingPlace here{used.set, used.binding};
    const bool is_bound = used.kind == ShaderBinding::Kind::UniformBlock || places_.contains(here);
    if (!is_bound) {
      refuse(fmt::format("the kernel uses {}, and nothing is bound there",
                         variable_text({.set = used.set, .binding = used.binding, .names = names_at(here)})));
    }
  }
}

/// The names of all variables at a place.
std::vector<std::string> CallResolver::names_at(BindingPlace place) const {
  std::vector<std::string> names;
  for (const DeclaredVariable& one : declared_.variables) {
    const bool is_there = BindingPlace{one.set, one.binding} == place && !one.is_uniform;
    if (is_there) names.insert(names.end(), one.names.begin(), one.names.end());
  }
  return names;
}

/// The given numbers of a uniform block, with their names inside it. "*" is of all blocks, and comes first:
/// that of a block replaces it.
std::vector<NamedNumber> CallResolver::numbers_of(const DeclaredVariable& block,
                                                  std::set<std::string>& taken) const {
  std::vector<std::string> prefixes = block.names;
  prefixes.push_back(place_text({block.set, block.binding}));
  std::vector<NamedNumber> inside;
  const auto of_all = std::ranges::find(call_.uniforms, std::string("*"), &NamedNumber::name);
  if (of_all != call_.uniforms.end()) {
    taken.insert(of_all->name);
    inside.push_back(*of_all);
  }
  for (const NamedNumber& given : call_.uniforms) {
    const auto prefix = std::ranges::find_if(
        prefixes, [&](const std::string& one) { return given.name.starts_with(one + "."); });
    if (prefix == prefixes.end()) continue;
    taken.insert(given.name);
    inside.push_back({given.name.substr(prefix->size() + 1), given.value});
  }
  return inside;
}

void CallResolver::place_uniforms(ResolvedCall& resolved, const ShaderInterface& interface) {
  std::set<std::string> taken;
  auto next = static_cast<std::uint32_t>(call_.places.size());
  for (const DeclaredVariable& block : declared_.variables) {
    const BindingPlace here{block.set, block.binding};
    const bool is_used = std::ranges::any_of(interface.bindings, [&](const ShaderBinding& used) {
      return BindingPlace{used.set, used.binding} == here;
    });
    if (!block.is_uniform) continue;
    const std::vector<NamedNumber> numbers = numbers_of(block, taken);  // an unused block may have them, too
    if (!is_used) continue;
    if (!places_.emplace(here, next).second) {
      refuse(fmt::format("{} is declared as several uniform blocks, or bound, too", variable_text(block)));
    }
    std::size_t size = 0;
    for (const BlockMember& one : block.members)
      size = std::max<std::size_t>(size, one.offset + one.type.bits / 8);
    if (size == 0) refuse(fmt::format("{} has no member that could be set", variable_text(block)));
    if (size > most_uniform_bytes || resolved.uniforms.size() >= most_uniform_blocks) {
      throw Unsupported(fmt::format(
          "dispatch '{}' needs a uniform block of {} bytes, its {}th: {} blocks of {} bytes are what every "
          "device takes",
          dispatch_.label, size, resolved.uniforms.size() + 1, most_uniform_blocks, most_uniform_bytes));
    }
    constexpr std::size_t alignment = 16;  // blocks end at the size of a vec4
    size = (size + alignment - 1) / alignment * alignment;
    resolved.uniforms.push_back(
        {next++, block_bytes("the uniform block " + variable_text(block), block.members, numbers, size)});
  }
  for (const NamedNumber& given : call_.uniforms) {
    if (!taken.contains(given.name)) {
      refuse(fmt::format("no uniform block has '{}' (BLOCK.MEMBER); the kernel declares: {}", given.name,
                         list_text(variable_texts(true))));
    }
  }
}

/// Variables that are neither bound nor used go to bindings after all others.
void CallResolver::move_variables(Spirv& spirv) const {
  auto next = static_cast<std::uint32_t>(places_.size());
  for (const auto& [place, binding] : places_) next = std::max(next, binding + 1);
  std::map<BindingPlace, std::uint32_t> places = places_;
  spirv.words = with_places(spirv.words, [&](BindingPlace from) -> BindingPlace {
    const auto [found, is_new] = places.emplace(from, next);
    if (is_new) ++next;
    return {0, found->second};
  });
  spirv.hash = source_hash(std::as_bytes(std::span(spirv.words)));
}

}  // namespace

std::optional<std::uint64_t> encoded(const Number& number, NumberType type) {
  const auto* whole = std::get_if<std::int64_t>(&number);
  const double real = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(number);
  if (type.kind == NumberType::Kind::Float) {
    if (type.bits == 64) return std::bit_cast<std::uint64_t>(real);
    const auto single = static_cast<float>(real);
    if (type.bits == 32) return std::bit_cast<std::uint32_t>(single);
    if (type.bits == 16) return std::bit_cast<std::uint16_t>(to_half(single));
    return std::nullopt;
  }
  if (whole == nullptr) return std::nullopt;
  if (type.kind == NumberType::Kind::Boolean)
    return *whole == 0 || *whole == 1 ? std::optional<std::uint64_t>(*whole) : std::nullopt;
  if (!fits(*whole, type)) return std::nullopt;
  return static_cast<std::uint64_t>(*whole);
}

ResolvedCall resolved_call(const Dispatch& dispatch, const Spirv& spirv, const DeviceInfo& device) {
  return CallResolver(dispatch, spirv, device).resolve();
}

}  // namespace assay::gpu
