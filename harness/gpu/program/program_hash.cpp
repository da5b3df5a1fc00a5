#include "harness/gpu/program/program_hash.h"

#include "harness/base/hash.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::gpu {
namespace {

std::string joined(std::span<const std::uint32_t> values) {
  std::string text;
  for (const std::uint32_t value : values) {
    text += fmt::format("{:x} ", value);
  }
  return text;
}

std::string constants_text(std::vector<SpecConstant> constants) {
  std::ranges::sort(constants, {}, &SpecConstant::name);
  std::string text;
  for (const SpecConstant& constant : constants) {
    text += fmt::format("{}={:x} ", constant.name, constant.value);
  }
  return text;
}

/// The members of an external call's uniform blocks, sorted by name.
std::string uniforms_text(std::vector<NamedNumber> uniforms) {
  std::ranges::sort(uniforms, {}, &NamedNumber::name);
  std::string text;
  for (const NamedNumber& one : uniforms) {
    text +=
        std::visit([&](auto value) { return fmt::format("uniform {}={}\n", one.name, value); }, one.value);
  }
  return text;
}

std::string resource_text(const HashedProgram& hashed, Resource resource) {
  const std::string where = fmt::format("memory {:x}", hashed.memory(resource));
  if (resource.kind == Resource::Kind::Tensor) {
    const Physical& tensor = hashed.tensors[resource.index];
    return fmt::format("tensor {} {} {} {} {}", resource.index, to_string(tensor.form()),
                       name_of(tensor.dtype()), assay::to_string(tensor.shape()), where);
  }
  const Scratch& scratch = hashed.program.scratch[resource.index];
  return fmt::format("scratch {} {} {} {} {}", resource.index, to_string(scratch.form),
                     name_of(scratch.dtype), assay::to_string(scratch.shape), where);
}

std::string dispatch_text(const HashedProgram& hashed, std::size_t index) {
  const Dispatch& dispatch = hashed.program.dispatches[index];
  std::string text = fmt::format("dispatch of role {}\nspirv {}\nlocal size {}\nconstants {}\n",
                                 static_cast<int>(dispatch.role), hashed.spirv[index],
                                 joined(dispatch.local_size), constants_text(dispatch.constants));
  text += fmt::format("workgroups {}\npush {}\n", joined(dispatch.workgroups), joined(dispatch.push.words()));
  if (dispatch.subgroup_size != 0) text += fmt::format("full subgroups of {}\n", dispatch.subgroup_size);
  if (dispatch.external) text += uniforms_text(dispatch.external->uniforms);
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
    const Binding& binding = dispatch.bindings[i];
    text += fmt::format("binding {}: {}{}", i, resource_text(hashed, binding.resource),
                        binding.is_sampled() ? " sampled" : "");
    if (binding.range != Binding::Range::All)
      text += fmt::format(" range {}", static_cast<int>(binding.range));
    text += '\n';
  }
  return text;
}

}  // namespace

std::string program_hash(const HashedProgram& hashed) {
  std::string text = fmt::format("guard {}\n", hashed.guard);
  for (std::size_t i = 0; i < hashed.program.dispatches.size(); ++i) {
    text += dispatch_text(hashed, i);
  }
  for (std::size_t i = 0; i < hashed.program.scratch.size(); ++i) {
    const Scratch& scratch = hashed.program.scratch[i];
    if (scratch.in_memory_of)
      text += fmt::format("scratch {} in the memory of {}\n", i, *scratch.in_memory_of);
  }
  return source_hash(text);
}

}  // namespace assay::gpu
