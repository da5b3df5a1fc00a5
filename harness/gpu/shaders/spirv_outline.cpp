#include "harness/gpu/shaders/spirv_outline.h"

#include <algorithm>

namespace assay::gpu {
namespace {

void remove_duplicates(std::vector<std::uint32_t>& ids) {
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace

SpirvOutline::SpirvOutline(std::span<const std::uint32_t> words, std::string_view what) {
  each_instruction(words, what, [&](const SpirvInstruction& instruction) { keep(instruction); });
}

void SpirvOutline::keep(const SpirvInstruction& instruction) {
  access_.read(instruction);
  if (instruction.opcode == spv::OpFunctionEnd) {
    remove_duplicates(all_.back().ids);
    in_body_ = false;
  }
  if (in_body_) {
    std::vector<std::uint32_t>& mentioned = all_.back().ids;
    mentioned.insert(mentioned.end(), instruction.ids.begin(), instruction.ids.end());
    return;
  }
  all_.push_back({instruction.opcode,
                  instruction.type,
                  instruction.result,
                  {instruction.operands.begin(), instruction.operands.end()},
                  {instruction.ids.begin(), instruction.ids.end()}});
  if (instruction.opcode != spv::OpFunction) return;
  in_body_ = true;
  all_.emplace_back();
}

void SpirvOutline::each(const std::function<void(const SpirvInstruction&)>& visit) const {
  for (const Kept& kept : all_) {
    visit({.opcode = kept.opcode,
           .type = kept.type,
           .result = kept.result,
           .operands = kept.operands,
           .ids = kept.ids});
  }
}

}  // namespace assay::gpu
