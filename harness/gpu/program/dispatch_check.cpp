#include "harness/gpu/program/dispatch_check.h"

#include "harness/gpu/device/limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::gpu {
namespace {

using Kind = ShaderBinding::Kind;

std::string_view kind_text(Kind kind) {
  switch (kind) {
    case Kind::StorageBuffer:
      return "a storage buffer";
    case Kind::StorageImage:
      return "a storage image";
    case Kind::SampledImage:
      return "a texture with its sampler";
    case Kind::UniformBlock:
      return "a uniform block";
    case Kind::Other:
      return "neither a storage buffer nor an image nor a texture with its sampler";
  }
  return "";
}

/// 'f', 'i' or 'u' of "rgba32f", "rgba8i", "rgba8ui".
char texel_of(std::string_view texels) {
  if (texels.ends_with("ui")) return 'u';
  return texels.back();
}

}  // namespace

std::string place_text(const ShaderBinding& used) {
  const std::string name = used.name.empty() ? "" : fmt::format(" ('{}')", used.name);
  return fmt::format("set {}, binding {}{}", used.set, used.binding, name);
}

void DispatchCheck::check() const {
  check_capabilities();
  for (const ShaderBinding& used : shader_.bindings) check_binding(used);
  check_push();
  check_sizes();
}

void DispatchCheck::refuse(const std::string& what) const {
  std::string variant;
  for (const Define& define : dispatch_.defines)
    variant += fmt::format("{}{} {}", variant.empty() ? " with " : ", ", define.name, define.value);
  throw Error(fmt::format("checking the shader {}{} against dispatch '{}': {}", dispatch_.shader, variant,
                          dispatch_.label, what));
}

void DispatchCheck::check_binding(const ShaderBinding& used) const {
  if (is_uniform_block(used)) return;
  if (used.set != 0) {
    refuse(fmt::format("the shader uses {}, and programs bind set 0 alone: declare it with set = 0",
                       place_text(used)));
  }
  if (used.binding >= dispatch_.bindings.size()) {
    refuse(
        fmt::format("the shader uses {}, and the dispatch binds {} resources, from 0 on: let the op bind "
                    "it, or remove it from the shader",
                    place_text(used), dispatch_.bindings.size()));
  }
  const Binding& given = dispatch_.bindings[used.binding];
  const Form form = form_of(program_, tensors_, given.resource);
  const Kind kind = given.is_sampled() ? Kind::SampledImage
                    : is_texture(form) ? Kind::StorageImage
                                       : Kind::StorageBuffer;
  if (used.kind != kind) {
    refuse(
        fmt::format("the shader declares {} as {}, and the dispatch binds {} ({}) there as {}: the form "
                    "decides between buffer and image, the op between image and sampler",
                    place_text(used), kind_text(used.kind), resource_text(given.resource), to_string(form),
                    kind_text(kind)));
  }
  if (kind != Kind::StorageBuffer) check_texels(used, given.resource, form);
}

void DispatchCheck::check_texels(const ShaderBinding& used, Resource resource, Form form) const {
  const std::uint32_t dimensions = form.storage == Storage::Texture3D ? 3 : 2;
  if (used.dimensions != dimensions) {
    refuse(
        fmt::format("the shader declares {} as {}, and the dispatch binds {} there, a texture of {} "
                    "dimensions",
                    place_text(used),
                    used.dimensions == 0 ? "no plain image of 2 or 3 dimensions"
                                         : fmt::format("an image of {} dimensions", used.dimensions),
                    resource_text(resource), dimensions));
  }
  const std::string_view texels = texel_name(dtype_of(program_, tensors_, resource));
  const bool has_format = used.kind == Kind::StorageImage && !used.format.empty();
  if ((has_format && used.format != texels) || used.texel != texel_of(texels)) {
    refuse(
        fmt::format("the shader declares {} with texels of {}, and the dispatch binds {} there, whose texels "
                    "are {}",
                    place_text(used), has_format ? used.format : fmt::format("kind '{}'", used.texel),
                    resource_text(resource), texels));
  }
}

std::string DispatchCheck::resource_text(Resource resource) const {
  if (resource.kind == Resource::Kind::Tensor) return fmt::format("tensor {}", resource.index);
  return fmt::format("scratch '{}'", program_.scratch[resource.index].name);
}

void DispatchCheck::check_capabilities() const {
  const std::string refused = refused_capability(shader_.capabilities);
  if (refused.empty()) return;
  refuse(
      fmt::format("the shader uses the SPIR-V capability {}: kernels may only compute from what is bound "
                  "to them, and may read neither clocks nor other memory",
                  refused));
}

void DispatchCheck::check_push() const {
  constexpr std::size_t word = sizeof(std::uint32_t);
  const std::size_t pushed = dispatch_.push.words().size() * word;
  const std::size_t declared = (shader_.push_bytes + word - 1) / word * word;
  const bool is_idle = pushed == 0 && !shader_.uses_push;  // declared, but neither used nor pushed
  if (pushed == declared || is_idle) return;
  refuse(
      fmt::format("the shader declares {} bytes of push constants, and the dispatch pushes {}: the op must "
                  "push exactly the members of the shader's block, in their order",
                  shader_.push_bytes, pushed));
}

void DispatchCheck::check_sizes() const {
  if (shader_.local_size != dispatch_.local_size) {
    refuse(
        fmt::format("the shader's workgroups are of {} invocations, and the dispatch says {}: declare them "
                    "with local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2, or let the op say "
                    "the same",
                    fmt::join(shader_.local_size, " x "), fmt::join(dispatch_.local_size, " x ")));
  }
  if (dispatch_.shared_bytes != 0 && dispatch_.shared_bytes < shader_.shared_bytes) {
    refuse(
        fmt::format("the shader has {} bytes of shared memory, and the dispatch says {}: the device's "
                    "limit is compared with the stated size",
                    shader_.shared_bytes, dispatch_.shared_bytes));
  }
}

}  // namespace assay::gpu
