#pragma once

#include "harness/gpu/shaders/spirv_outline.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace assay::gpu {

/// Something that a shader is bound to: `layout(set = S, binding = B)`.
struct ShaderBinding {
  enum class Kind : std::uint8_t {
    StorageBuffer,
    StorageImage,
    SampledImage,  ///< with its sampler: GLSL's sampler2D
    Other          ///< what no dispatch binds: a uniform buffer, an array of descriptors
  };

  std::uint32_t set = 0;
  std::uint32_t binding = 0;
  Kind kind = Kind::Other;
  std::string name;              ///< in GLSL, or of its block; empty where the source gives none
  bool readonly = false;         ///< NonWritable: GLSL's `readonly`; what is read through a sampler is
  bool is_read = false;          ///< some instruction takes what is there (SpirvAccess), whatever is declared
  bool is_written = false;       ///< some instruction changes it
  std::uint32_t dimensions = 0;  ///< of images: 2 or 3; 0 for others (cubes, layers)
  /// Of storage images "rgba8i" and the like; empty where the shader states none, or one that no tensor has.
  std::string format;
  char texel = 0;  ///< of images: 'f'loat, 'i'nt or 'u'nsigned
};

/// What a compute shader asks of whoever runs it, once it is specialized.
struct ShaderInterface {
  std::vector<ShaderBinding> bindings;  ///< those that main() or what it calls uses, by set and binding
  /// Bytes to the end of the last push constant of the block that it declares; 0: it declares none.
  std::uint32_t push_bytes = 0;
  bool uses_push = false;  ///< main() or what it calls does
  /// Shared memory of a workgroup as Vulkan counts it (std430) that main() or what it calls uses.
  std::uint64_t shared_bytes = 0;
  std::array<std::uint32_t, 3> local_size{1, 1, 1};
  std::vector<std::uint32_t> capabilities{};  ///< SPIR-V's numbers of what the module says that it uses
};

/// The interface of the entry point `main` of a module, with `specialization` (value by constant_id; others
/// have their defaults). Throws Error where the words are no SPIR-V module with a compute shader `main`, or
/// where the size of shared memory cannot be told.
ShaderInterface interface_of(std::span<const std::uint32_t> words,
                             const std::map<std::uint32_t, std::uint32_t>& specialization);
/// The same of a module whose interface is asked for again and again.
ShaderInterface interface_of(const SpirvOutline& module,
                             const std::map<std::uint32_t, std::uint32_t>& specialization);

}  // namespace assay::gpu
