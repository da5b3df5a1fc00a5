#include "harness/gpu/spirv/spirv_decorations.h"

namespace assay::gpu {

void SpirvDecoration::add(std::span<const std::uint32_t> words) {
  switch (words[0]) {
    case spv::DecorationDescriptorSet:
      set = words[1];
      break;
    case spv::DecorationBinding:
      binding = words[1];
      break;
    case spv::DecorationOffset:
      offset = words[1];
      break;
    case spv::DecorationBuiltIn:
      built_in = words[1];
      break;
    case spv::DecorationSpecId:
      spec_id = words[1];
      break;
    case spv::DecorationArrayStride:
      array_stride = words[1];
      break;
    case spv::DecorationMatrixStride:
      matrix_stride = words[1];
      break;
    case spv::DecorationRowMajor:
      row_major = true;
      break;
    case spv::DecorationNonWritable:
      non_writable = true;
      break;
    case spv::DecorationBufferBlock:
      buffer_block = true;
      break;
    default:
      break;
  }
}

void SpirvDecorations::read(const SpirvInstruction& instruction) {
  const auto& operands = instruction.operands;
  if (instruction.opcode == spv::OpDecorate) {
    by_id_[operands[0]].add(operands.subspan(1));
  } else if (instruction.opcode == spv::OpMemberDecorate) {
    by_member_[{operands[0], operands[1]}].add(operands.subspan(2));
  }
}

SpirvDecoration SpirvDecorations::of(std::uint32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? SpirvDecoration{} : found->second;
}

SpirvDecoration SpirvDecorations::of_member(std::uint32_t structure, std::uint32_t member) const {
  const auto found = by_member_.find({structure, member});
  return found == by_member_.end() ? SpirvDecoration{} : found->second;
}

std::optional<std::uint32_t> SpirvDecorations::built_in(std::uint32_t number) const {
  for (const auto& [id, decoration] : by_id_) {
    if (decoration.built_in == number) return id;
  }
  return std::nullopt;
}

}  // namespace assay::gpu
