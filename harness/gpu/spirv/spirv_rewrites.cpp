#include "harness/gpu/spirv/spirv_rewrites.h"

#include "harness/gpu/gpu.h"
#include "harness/gpu/spirv/module_copy.h"
#include "harness/gpu/spirv/spirv_instructions.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
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

constexpr std::size_t decoration_value = 3;  ///< the word of an OpDecorate that holds a set or a binding

/// The words of one variable that say its place; 0: none does.
struct PlaceWords {
  std::size_t set = 0, binding = 0;
};

std::map<std::uint32_t, PlaceWords> place_words(std::span<const std::uint32_t> words) {
  std::map<std::uint32_t, PlaceWords> found;
  each_instruction(words, "the bindings", [&](const SpirvInstruction& instruction) {
    if (instruction.opcode == spv::OpDecorate) {
      const std::uint32_t decoration = instruction.operands[1];
      if (decoration == spv::DecorationDescriptorSet)
        found[instruction.operands[0]].set = instruction.at + decoration_value;
      if (decoration == spv::DecorationBinding)
        found[instruction.operands[0]].binding = instruction.at + decoration_value;
    }
  });
  return found;
}

bool is_workgroup_memory(const SpirvInstruction& instruction) {
  return instruction.opcode == spv::OpVariable && instruction.operands.size() == 1 &&
         instruction.operands[0] == spv::StorageClassWorkgroup;
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

std::vector<std::uint32_t> with_places(std::span<const std::uint32_t> words,
                                       const std::function<BindingPlace(BindingPlace)>& moved) {
  std::vector<std::uint32_t> made(words.begin(), words.end());
  for (const auto& [variable, at] : place_words(words)) {
    if (at.set == 0 || at.binding == 0) continue;
    const BindingPlace to = moved({words[at.set], words[at.binding]});
    made[at.set] = to.set;
    made[at.binding] = to.binding;
  }
  return made;
}

std::vector<std::uint32_t> with_entry_main(std::span<const std::uint32_t> words) {
  constexpr std::size_t name_at = 3;                           // words of an OpEntryPoint before the name
  constexpr std::array<std::uint32_t, 2> main{0x6e69616d, 0};  // "main", padded with zeros
  std::size_t entry = 0, entries = 0, name_words = 0;
  each_instruction(words, "the entry points", [&](const SpirvInstruction& instruction) {
    if (instruction.opcode == spv::OpEntryPoint) {
      ++entries;
      entry = instruction.at;
      name_words = instruction.text(2).size() / sizeof(std::uint32_t) + 1;
    }
  });
  std::vector<std::uint32_t> made(words.begin(), words.end());
  if (entries != 1) return made;
  const auto name = made.begin() + static_cast<std::ptrdiff_t>(entry + name_at);
  const std::size_t count = (made[entry] >> spv::WordCountShift) - name_words + main.size();
  made[entry] = static_cast<std::uint32_t>(count << spv::WordCountShift) | spv::OpEntryPoint;
  const auto rest = made.erase(name, name + static_cast<std::ptrdiff_t>(name_words));
  made.insert(rest, main.begin(), main.end());
  return made;
}

std::optional<std::vector<std::uint32_t>> with_local_size(std::span<const std::uint32_t> words,
                                                          const std::array<std::uint32_t, 3>& size) {
  constexpr std::size_t size_at = 3;  // words of an OpExecutionMode before its literals
  std::vector<std::uint32_t> made(words.begin(), words.end());
  bool is_set = false, is_constant = false;
  each_instruction(words, "the size of workgroups", [&](const SpirvInstruction& instruction) {
    const auto& operands = instruction.operands;
    if (instruction.opcode == spv::OpExecutionMode && operands[1] == spv::ExecutionModeLocalSize) {
      std::ranges::copy(size, made.begin() + static_cast<std::ptrdiff_t>(instruction.at + size_at));
      is_set = true;
    }
    is_constant = is_constant || instruction.opcode == spv::OpExecutionModeId ||
                  (instruction.opcode == spv::OpDecorate && operands[1] == spv::DecorationBuiltIn &&
                   operands[2] == spv::BuiltInWorkgroupSize);
  });
  if (!is_set || is_constant) return std::nullopt;
  return made;
}

std::vector<std::uint32_t> with_cleared_workgroup_memory(std::span<const std::uint32_t> words) {
  if (words.size() < spirv_header_words) return {words.begin(), words.end()};
  ModuleCopy made(words);
  std::map<std::uint32_t, std::uint32_t> pointees;  // by pointer type
  each_instruction(words, "workgroup memory", [&](const SpirvInstruction& instruction) {
    if (instruction.opcode == spv::OpTypePointer) pointees[instruction.result] = instruction.operands[1];
    if (!is_workgroup_memory(instruction)) return made.copy(instruction);
    // Constants and variables may follow each other in any order.
    const std::uint32_t zero = made.new_id();
    made.add(spv::OpConstantNull, {pointees[instruction.type], zero});
    made.add(spv::OpVariable, {instruction.type, instruction.result, spv::StorageClassWorkgroup, zero});
  });
  return std::move(made).result();
}

}  // namespace assay::gpu
