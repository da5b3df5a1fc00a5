#include "harness/gpu/spirv/spirv_rebound.h"

#include "harness/gpu/spirv/spirv_instructions.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>

namespace assay::gpu {
namespace {

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

}  // namespace

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

}  // namespace assay::gpu
