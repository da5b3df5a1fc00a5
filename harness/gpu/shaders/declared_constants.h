#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay::gpu {

/// A specialization constant that a SPIR-V module declares.
struct DeclaredConstant {
  std::uint32_t id = 0;  ///< its SpecId: GLSL's `constant_id`
  std::string name;      ///< as in GLSL; empty where the source gives none, as to the workgroup's sides
  friend bool operator==(const DeclaredConstant&, const DeclaredConstant&) = default;
};

/// All that the module declares, used or not, by id. glslang writes their names (OpName) without debug
/// information too. Throws Error where the words are no SPIR-V module, or a constant is not 32 bits wide: the
/// only width that a Dispatch has values of.
std::vector<DeclaredConstant> declared_constants(std::span<const std::uint32_t> words);

}  // namespace assay::gpu
