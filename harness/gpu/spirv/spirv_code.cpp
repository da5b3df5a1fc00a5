#include "harness/gpu/gpu.h"
#include "harness/gpu/spirv/spirv_instructions.h"

#include <functional>
#include <unordered_set>

namespace assay::gpu {
namespace {

using Words = std::span<const std::uint32_t>;

/// Calls `visit` with the words of each instruction. Returns false for words that are no SPIR-V module.
bool each_in(Words module, const std::function<void(Words)>& visit) {
  if (module.size() < spirv_header_words || module[0] != spv::MagicNumber) return false;
  for (std::size_t at = spirv_header_words; at < module.size();) {
    const std::size_t count = module[at] >> spv::WordCountShift;
    if (count == 0 || count > module.size() - at) return false;
    visit(module.subspan(at, count));
    at += count;
  }
  return true;
}

std::uint32_t opcode_of(Words instruction) {
  return instruction[0] & spv::OpCodeMask;
}

bool is_for_people(Words instruction, const std::unordered_set<std::uint32_t>& set_by_name) {
  switch (opcode_of(instruction)) {
    case spv::OpSource:
    case spv::OpSourceContinued:
    case spv::OpSourceExtension:
    case spv::OpString:
    case spv::OpMemberName:
    case spv::OpLine:
    case spv::OpNoLine:
    case spv::OpModuleProcessed:
      return true;
    case spv::OpName:
      return instruction.size() < 2 || !set_by_name.contains(instruction[1]);
    default:
      return false;
  }
}

}  // namespace

std::vector<std::uint32_t> without_debug_information(std::span<const std::uint32_t> words) {
  std::unordered_set<std::uint32_t> set_by_name;
  const bool is_module = each_in(words, [&](Words instruction) {
    if (opcode_of(instruction) == spv::OpDecorate && instruction.size() > 2 &&
        instruction[2] == spv::DecorationSpecId)
      set_by_name.insert(instruction[1]);
  });
  if (!is_module) return {words.begin(), words.end()};
  std::vector<std::uint32_t> kept(words.begin(), words.begin() + spirv_header_words);
  each_in(words, [&](Words instruction) {
    if (!is_for_people(instruction, set_by_name))
      kept.insert(kept.end(), instruction.begin(), instruction.end());
  });
  return kept;
}

}  // namespace assay::gpu
