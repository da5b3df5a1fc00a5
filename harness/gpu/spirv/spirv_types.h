#pragma once

#include "harness/gpu/spirv/spirv_instructions.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace assay::gpu {

/// The values of a module's 32-bit integer and boolean constants after specialization, as needed to compute
/// sizes; floats and wider numbers have no value here.
class SpirvConstants {
 public:
  /// `specialization` maps a SpecId to its value; it must outlive this object.
  explicit SpirvConstants(const std::map<std::uint32_t, std::uint32_t>& specialization)
      : specialization_(specialization) {}

  /// Takes the next instruction; call it with all instructions of a module, in order. Only constants and
  /// SpecIds matter.
  void read(const SpirvInstruction& instruction);

  /// The constant's value; nothing when `id` is no such constant or could not be evaluated.
  std::optional<std::uint32_t> value(std::uint32_t id) const;
  /// The member ids of a composite constant; empty for other ids.
  std::vector<std::uint32_t> members(std::uint32_t id) const;

 private:
  std::optional<std::uint32_t> specialized(std::uint32_t id, std::uint32_t fallback) const;
  std::optional<std::uint32_t> evaluated(std::span<const std::uint32_t> operation) const;

  const std::map<std::uint32_t, std::uint32_t>& specialization_;
  std::map<std::uint32_t, std::uint32_t> spec_ids_;
  std::map<std::uint32_t, std::uint32_t> values_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> members_;
};

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
