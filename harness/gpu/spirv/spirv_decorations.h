#pragma once

#include "harness/gpu/spirv/spirv_instructions.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace assay::gpu {

/// The decorations of one id, or of one member of a structure.
struct SpirvDecoration {
  std::optional<std::uint32_t> set, binding, offset, built_in, spec_id, array_stride, matrix_stride;
  bool non_writable = false;
  bool buffer_block = false;
  bool row_major = false;

  /// Adds a decoration; `words` are the decoration and its operands.
  void add(std::span<const std::uint32_t> words);
};

/// The decorations of a module that its interface depends on.
class SpirvDecorations {
 public:
  /// Takes the next instruction; call it with all instructions of a module, in order. Only decorations
  /// matter.
  void read(const SpirvInstruction& instruction);

  SpirvDecoration of(std::uint32_t id) const;
  SpirvDecoration of_member(std::uint32_t structure, std::uint32_t member) const;
  /// The id that is decorated as built-in `number`.
  std::optional<std::uint32_t> built_in(std::uint32_t number) const;

 private:
  std::map<std::uint32_t, SpirvDecoration> by_id_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, SpirvDecoration> by_member_;
};

}  // namespace assay::gpu
