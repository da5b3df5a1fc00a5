#pragma once

#include "harness/gpu/spirv/spirv_instructions.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace assay::gpu {

/// A SPIR-V module that is made from another one, instruction by instruction. `words`, which must have a
/// header, must outlive it.
class ModuleCopy {
 public:
  explicit ModuleCopy(std::span<const std::uint32_t> words)
      : words_(words), made_(words.begin(), words.begin() + spirv_header_words) {}

  /// Appends an instruction of the other module as it is.
  void copy(const SpirvInstruction& instruction);
  /// Appends a new instruction; its operands begin with the ids of its type and its result, if it has them.
  void add(std::uint32_t opcode, std::span<const std::uint32_t> operands);
  void add(std::uint32_t opcode, std::initializer_list<std::uint32_t> operands);
  /// An id that nothing has.
  std::uint32_t new_id() { return made_[spirv_bound_word]++; }

  std::vector<std::uint32_t> result() && { return std::move(made_); }

 private:
  std::span<const std::uint32_t> words_;
  std::vector<std::uint32_t> made_;
};

}  // namespace assay::gpu
