#include "harness/gpu/spirv/spirv_outline.h"

#include <algorithm>
#include <unordered_set>

namespace assay::gpu {
namespace {

void remove_duplicates(std::vector<std::uint32_t>& ids) {
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

/// Whether a decoration affects the interface. Most decorations are about values in bodies (RelaxedPrecision,
/// NoContraction).
bool is_of_the_interface(std::uint32_t decoration) {
  switch (decoration) {
    case spv::DecorationRelaxedPrecision:
    case spv::DecorationNoContraction:
      return false;
    default:
      return true;
  }
}

bool tells_of_the_interface(const SpirvInstruction& instruction) {
  switch (instruction.opcode) {
    case spv::OpMemberName:
    case spv::OpString:
    case spv::OpLine:
    case spv::OpSourceContinued:
    case spv::OpSource:
      return false;
    case spv::OpDecorate:
      return is_of_the_interface(instruction.operands[1]);
    default:
      return true;
  }
}

}  // namespace

SpirvOutline::SpirvOutline(std::span<const std::uint32_t> words, std::string_view what) {
  each_instruction(words, what, [&](const SpirvInstruction& instruction) { keep(instruction); });
  forget_names_of_locals();
}

/// Called at the end, because names come before the objects they name.
void SpirvOutline::forget_names_of_locals() {
  std::unordered_set<std::uint32_t> globals;
  for (const Kept& kept : all_) {
    if (kept.opcode == spv::OpVariable || kept.opcode == spv::OpTypeStruct) globals.insert(kept.result);
  }
  std::erase_if(all_, [&globals](const Kept& kept) {
    return kept.opcode == spv::OpName && !globals.contains(kept.operands[0]);
  });
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
  if (!tells_of_the_interface(instruction)) return;
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
