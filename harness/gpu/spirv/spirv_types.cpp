#include "harness/gpu/spirv/spirv_types.h"

#include <algorithm>

namespace assay::gpu {
namespace {

/// Larger sizes are clamped to this: no device supports them, and sums of clamped sizes do not overflow.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 60;

std::uint64_t times(std::uint64_t bytes, std::uint64_t count) {
  if (bytes == 0 || count == 0) return 0;
  return count > most_bytes / bytes ? most_bytes : bytes * count;
}

std::uint64_t aligned(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

void set_size(SpirvType& type, std::uint64_t bytes, std::uint64_t alignment) {
  type.bytes = std::min(bytes, most_bytes);
  type.alignment = std::max<std::uint64_t>(alignment, 1);
  type.has_size = true;
}

void lay_out_vector(SpirvType& type, const SpirvType& element) {
  const std::uint64_t count = type.operands[1];
  set_size(type, times(element.bytes, count), times(element.bytes, count == 3 ? 4 : count));
}

}  // namespace

const SpirvType* SpirvTypes::find(std::uint32_t id) const {
  const auto found = types_.find(id);
  return found == types_.end() ? nullptr : &found->second;
}

std::uint32_t SpirvTypes::pointee_id(std::uint32_t pointer) const {
  const SpirvType* type = find(pointer);
  return type != nullptr && type->opcode == spv::OpTypePointer ? type->operands[1] : 0;
}

const SpirvType* SpirvTypes::pointee(std::uint32_t pointer) const {
  return find(pointee_id(pointer));
}

void SpirvTypes::read(const SpirvInstruction& instruction, const SpirvConstants& constants) {
  if (instruction.opcode < spv::OpTypeBool || instruction.opcode > spv::OpTypePointer) return;
  SpirvType type{.opcode = instruction.opcode,
                 .operands = {instruction.operands.begin(), instruction.operands.end()}};
  lay_out(type, constants);
  types_[instruction.result] = std::move(type);
}

void SpirvTypes::lay_out(SpirvType& type, const SpirvConstants& constants) const {
  constexpr std::uint32_t bits_per_byte = 8;
  const SpirvType* element = type.operands.empty() ? nullptr : find(type.operands[0]);
  switch (type.opcode) {
    case spv::OpTypeBool:
      return set_size(type, sizeof(std::uint32_t), sizeof(std::uint32_t));
    case spv::OpTypeInt:
    case spv::OpTypeFloat:
      return set_size(type, type.operands[0] / bits_per_byte, type.operands[0] / bits_per_byte);
    case spv::OpTypeVector:
      if (element != nullptr && element->has_size) lay_out_vector(type, *element);
      return;
    case spv::OpTypeMatrix:
      return lay_out_array(type, type.operands[1]);
    case spv::OpTypeArray:
      return lay_out_array(type, constants.value(type.operands[1]));
    case spv::OpTypeStruct:
      return lay_out_struct(type);
    default:
      return;
  }
}

void SpirvTypes::lay_out_array(SpirvType& type, std::optional<std::uint64_t> length) const {
  const SpirvType* element = find(type.operands[0]);
  if (element == nullptr || !element->has_size || !length) return;
  set_size(type, times(aligned(element->bytes, element->alignment), *length), element->alignment);
}

void SpirvTypes::lay_out_struct(SpirvType& type) const {
  std::uint64_t end = 0;
  std::uint64_t alignment = 1;
  for (const std::uint32_t id : type.operands) {
    const SpirvType* member = find(id);
    if (member == nullptr || !member->has_size) return;
    end = std::min(aligned(end, member->alignment) + member->bytes, most_bytes);
    alignment = std::max(alignment, member->alignment);
  }
  set_size(type, aligned(end, alignment), alignment);
}

}  // namespace assay::gpu
