#pragma once

#include "harness/gpu/gpu.h"
#include "harness/gpu/spirv/shader_interface.h"

#include <span>
#include <string>

namespace assay::gpu {

/// "set 0, binding 2 ('x')".
std::string place_text(const ShaderBinding& used);

/// Compares one dispatch with its shader.
class DispatchCheck {
 public:
  DispatchCheck(const Program& program, std::span<const Physical> tensors, const Dispatch& dispatch,
                const ShaderInterface& shader)
      : program_(program), tensors_(tensors), dispatch_(dispatch), shader_(shader) {}

  /// Throws Error for a difference.
  void check() const;

  /// Throws Error about this shader and dispatch.
  [[noreturn]] void refuse(const std::string& what) const;

  /// Calls `visit` with each variable of the shader and the resource that it is bound to. Several variables
  /// may share a binding.
  template <class Visit>
  void each_use(const Visit& visit) const {
    for (const ShaderBinding& used : shader_.bindings) {
      if (!is_uniform_block(used)) visit(dispatch_.bindings[used.binding].resource, used);
    }
  }

  const Dispatch& dispatch() const { return dispatch_; }

 private:
  /// Whether resolved_call() has given it a uniform block, which lie after what the dispatch binds.
  bool is_uniform_block(const ShaderBinding& used) const {
    return dispatch_.external && used.kind == ShaderBinding::Kind::UniformBlock;
  }

  void check_binding(const ShaderBinding& used) const;
  void check_texels(const ShaderBinding& used, Resource resource, Form form) const;
  std::string resource_text(Resource resource) const;
  void check_capabilities() const;
  void check_push() const;
  void check_sizes() const;

  const Program& program_;
  std::span<const Physical> tensors_;
  const Dispatch& dispatch_;
  const ShaderInterface& shader_;
};

}  // namespace assay::gpu
