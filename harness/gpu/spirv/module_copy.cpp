#include "harness/gpu/spirv/module_copy.h"

namespace assay::gpu {

void ModuleCopy::copy(const SpirvInstruction& instruction) {
  const std::span<const std::uint32_t> rest = words_.subspan(instruction.at);
  made_.insert(made_.end(), rest.begin(), rest.begin() + (rest[0] >> spv::WordCountShift));
}

void ModuleCopy::add(std::uint32_t opcode, std::span<const std::uint32_t> operands) {
  made_.push_back(static_cast<std::uint32_t>(operands.size() + 1) << spv::WordCountShift | opcode);
  made_.insert(made_.end(), operands.begin(), operands.end());
}

void ModuleCopy::add(std::uint32_t opcode, std::initializer_list<std::uint32_t> operands) {
  add(opcode, std::span(operands.begin(), operands.size()));
}

}  // namespace assay::gpu
