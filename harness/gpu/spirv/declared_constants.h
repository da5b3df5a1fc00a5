#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay::gpu {

/// A specialization constant that a SPIR-V module declares.
struct DeclaredConstant {
  std::uint32_t id = 0;  ///< its SpecId: GLSL's `constant_id`
  std::string name;      ///< as in GLSL; empty if it has none there, like the workgroup's sizes
  friend bool operator==(const DeclaredConstant&, const DeclaredConstant&) = default;
};

/// All specialization constants that the module declares, used or not, sorted by id. glslang writes their
/// names (OpName) even without debug information. Throws Error when the words are no SPIR-V module or a
/// constant is not 32 bits wide, the only width that a Dispatch can set.
std::vector<DeclaredConstant> declared_constants(std::span<const std::uint32_t> words);

}  // namespace assay::gpu
