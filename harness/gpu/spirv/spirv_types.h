#pragma once

#include "harness/gpu/spirv/spirv_constants.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace assay::gpu {

/// A type that a module declares.
struct SpirvType {
  std::uint16_t opcode = 0;
  std::vector<std::uint32_t> operands;
  std::uint64_t bytes = 0;      ///< std430, booleans as 32 bits
  std::uint64_t alignment = 1;  ///< std430
  /// False for runtime arrays, images, pointers, and sizes that constants do not decide.
  bool has_size = false;
};

/// The types of a module and their sizes, once it is specialized.
class SpirvTypes {
 public:
  /// Takes the next instruction, after `constants` has read it; call it with all instructions of a module, in
  /// order.
  void read(const SpirvInstruction& instruction, const SpirvConstants& constants);

  /// The type of that id; null for an id that is no type.
  const SpirvType* find(std::uint32_t id) const;
  /// pointee_id() and pointee(): what a pointer type points to; 0 or null for other types.
  std::uint32_t pointee_id(std::uint32_t pointer) const;
  const SpirvType* pointee(std::uint32_t pointer) const;

 private:
  void lay_out(SpirvType& type, const SpirvConstants& constants) const;
  void lay_out_array(SpirvType& type, std::optional<std::uint64_t> length) const;
  void lay_out_struct(SpirvType& type) const;

  std::map<std::uint32_t, SpirvType> types_;
};

}  // namespace assay::gpu
