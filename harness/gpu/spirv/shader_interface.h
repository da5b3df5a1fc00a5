#pragma once

#include "harness/gpu/spirv/spirv_outline.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace assay::gpu {

/// One binding of a shader: `layout(set = S, binding = B)`.
struct ShaderBinding {
  enum class Kind : std::uint8_t {
    StorageBuffer,
    StorageImage,
    SampledImage,  ///< with its sampler: GLSL's sampler2D
    UniformBlock,  ///< for external calls alone
    Other          ///< nothing that a dispatch can bind: an array of descriptors
  };

  std::uint32_t set = 0;
  std::uint32_t binding = 0;
  Kind kind = Kind::Other;
  std::string name;              ///< in GLSL, or the name of its block; empty if the source gives none
  bool readonly = false;         ///< NonWritable: GLSL's `readonly`; always true for sampled images
  bool is_read = false;          ///< some instruction reads its content (SpirvAccess), whatever is declared
  bool is_written = false;       ///< some instruction changes its content
  bool is_updated = false;       ///< some atomic makes its new content from the old one
  std::uint32_t dimensions = 0;  ///< images: 2 or 3; 0 for others (cubes, layers)
  /// Storage images: the format, such as "rgba8i"; empty if the shader states none, or one that no tensor
  /// has.
  std::string format;
  char texel = 0;  ///< images: 'f'loat, 'i'nt or 'u'nsigned
};

/// The interface of a compute shader with its specialization constants set.
struct ShaderInterface {
  /// Those that main() or a function it calls uses, sorted by set and binding.
  std::vector<ShaderBinding> bindings;
  /// Bytes to the end of the last push constant of the declared block; 0: none is declared.
  std::uint32_t push_bytes = 0;
  bool uses_push = false;  ///< whether main() or a function it calls uses them
  /// Bytes of shared memory per workgroup, as Vulkan counts them (std430), that main() or a function it calls
  /// uses.
  std::uint64_t shared_bytes = 0;
  std::array<std::uint32_t, 3> local_size{1, 1, 1};
  std::vector<std::uint32_t> capabilities{};  ///< SPIR-V numbers of the declared capabilities
  bool knows_guards = false;                  ///< it declares the constant guard_words
};

/// The interface of the entry point `main` of a module, with `specialization` (value by constant_id; the
/// others have their defaults). Throws Error when the words are no SPIR-V module with a compute shader
/// `main`, or when the size of shared memory cannot be determined.
ShaderInterface interface_of(std::span<const std::uint32_t> words,
                             const std::map<std::uint32_t, std::uint32_t>& specialization);
/// interface_of() for a module whose interface is needed for many specializations.
ShaderInterface interface_of(const SpirvOutline& module,
                             const std::map<std::uint32_t, std::uint32_t>& specialization);

}  // namespace assay::gpu
