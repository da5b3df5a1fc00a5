#pragma once

#include <glslang/SPIRV/spirv.hpp>  // the numbers of the specification, namespace spv

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::gpu {

/// Words before the first instruction of a module.
inline constexpr std::size_t spirv_header_words = 5;

/// One instruction of a SPIR-V module, valid only during the call of each_instruction()'s visitor.
struct SpirvInstruction {
  std::uint16_t opcode = 0;
  std::uint32_t type = 0;                   ///< id of the result's type; 0: it has none
  std::uint32_t result = 0;                 ///< id; 0: it has none
  std::span<const std::uint32_t> operands;  ///< words after type and result
  std::span<const std::uint32_t> ids;       ///< those operands that are ids
  std::size_t at = 0;                       ///< the index of its first word in the module

  /// The literal string that begins at operand `first`.
  std::string text(std::size_t first) const;
};

/// Calls `visit` for each instruction in order. Throws Error("reading WHAT of a SPIR-V module: ...") when the
/// words are no SPIR-V module; exceptions of `visit` pass through.
void each_instruction(std::span<const std::uint32_t> words, std::string_view what,
                      const std::function<void(const SpirvInstruction&)>& visit);

}  // namespace assay::gpu
