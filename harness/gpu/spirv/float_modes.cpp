#include "harness/gpu/spirv/float_modes.h"

#include "harness/gpu/spirv/module_copy.h"
#include "harness/gpu/spirv/spirv_instructions.h"

#include <fmt/format.h>
#include <glslang/SPIRV/GLSL.std.450.h>
#include <glslang/SPIRV/doc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace assay::gpu {
namespace {

constexpr std::string_view extension_name = "SPV_KHR_float_controls";
constexpr std::array<std::uint32_t, 6> extension_words{0x5f565053, 0x5f52484b, 0x616f6c66,
                                                       0x6f635f74, 0x6f72746e, 0x0000736c};  // the same

struct Mode {
  std::uint32_t mode = 0;
  std::uint32_t capability = 0;
  std::uint32_t bits = 0;
};

/// What a module says about floats.
struct Floats {
  std::unordered_set<std::uint32_t> widths{};
  std::set<std::pair<std::uint32_t, std::uint32_t>> modes{};  ///< mode, width
  std::unordered_set<std::uint32_t> capabilities{};
  bool has_extension = false;
  std::uint32_t entry = 0;     ///< id of the entry point's function
  std::size_t last_entry = 0;  ///< the index of the entry point's first word; modes follow it
};

bool converts_halves(std::uint32_t function) {
  return function == GLSLstd450PackHalf2x16 || function == GLSLstd450UnpackHalf2x16;
}

Floats floats_of(std::span<const std::uint32_t> words) {
  Floats floats;
  std::unordered_set<std::uint32_t> glsl;  // ids of the set of GLSL's functions
  each_instruction(words, "the use of floats", [&](const SpirvInstruction& instruction) {
    const auto& operands = instruction.operands;
    switch (instruction.opcode) {
      case spv::OpCapability:
        floats.capabilities.insert(operands[0]);
        break;
      case spv::OpExtension:
        floats.has_extension = floats.has_extension || instruction.text(0) == extension_name;
        break;
      case spv::OpExtInstImport:
        if (instruction.text(0) == "GLSL.std.450") glsl.insert(instruction.result);
        break;
      case spv::OpEntryPoint:
        floats.entry = operands[1];
        floats.last_entry = instruction.at;
        break;
      case spv::OpExecutionMode:
        if (operands.size() == 3) floats.modes.emplace(operands[1], operands[2]);
        break;
      case spv::OpTypeFloat:
        floats.widths.insert(operands[0]);
        break;
      case spv::OpExtInst:
        if (glsl.contains(operands[0]) && converts_halves(operands[1])) floats.widths.insert(16);
        break;
      default:
        break;
    }
  });
  return floats;
}

/// Whether the module has one of the modes for floats of `bits`.
bool has_mode(const Floats& floats, std::initializer_list<std::uint32_t> modes, std::uint32_t bits) {
  return std::ranges::any_of(modes, [&](std::uint32_t mode) { return floats.modes.contains({mode, bits}); });
}

/// A device may have one rounding for all widths, so that both are rounded to even, or none is.
void add_rounding(std::vector<Mode>& all, const Floats& floats) {
  const std::initializer_list<std::uint32_t> to_zero{spv::ExecutionModeRoundingModeRTZ};
  if (!floats.widths.contains(16) || has_mode(floats, to_zero, 16) || has_mode(floats, to_zero, 32)) return;
  for (const std::uint32_t bits : {16U, 32U}) {
    if (floats.widths.contains(bits) && !has_mode(floats, {spv::ExecutionModeRoundingModeRTE}, bits))
      all.push_back({spv::ExecutionModeRoundingModeRTE, spv::CapabilityRoundingModeRTE, bits});
  }
}

/// The modes that the module gets.
std::vector<Mode> added_modes(const Floats& floats, const FloatModes& modes) {
  std::vector<Mode> all;
  if (floats.last_entry == 0) return all;
  constexpr std::uint32_t keep = spv::ExecutionModeDenormPreserve,
                          flush = spv::ExecutionModeDenormFlushToZero;
  if (modes.rounds_to_even) add_rounding(all, floats);
  if (modes.keeps_subnormals_16 && floats.widths.contains(16) && !has_mode(floats, {keep, flush}, 16))
    all.push_back({keep, spv::CapabilityDenormPreserve, 16});
  return all;
}

std::string text_of(const std::vector<Mode>& modes) {
  std::string text;
  for (const Mode& one : modes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        spv::ExecutionModeString(static_cast<int>(one.mode)), one.bits);
  }
  return text;
}

/// The module with the modes, their capabilities and their extension.
std::vector<std::uint32_t> copy_with(std::span<const std::uint32_t> words, Floats& floats,
                                     const std::vector<Mode>& added) {
  ModuleCopy made(words);
  bool are_added = false;  // capabilities, which come first
  each_instruction(words, "the modes of floats", [&](const SpirvInstruction& instruction) {
    if (!are_added && instruction.opcode != spv::OpCapability) {
      are_added = true;
      for (const Mode& mode : added) {
        if (floats.capabilities.insert(mode.capability).second)
          made.add(spv::OpCapability, {mode.capability});
      }
      if (!floats.has_extension) made.add(spv::OpExtension, extension_words);
    }
    made.copy(instruction);
    if (instruction.at != floats.last_entry) return;
    for (const Mode& mode : added) made.add(spv::OpExecutionMode, {floats.entry, mode.mode, mode.bits});
  });
  return std::move(made).result();
}

}  // namespace

ModuleWithModes with_float_modes(std::span<const std::uint32_t> words, const FloatModes& modes) {
  ModuleWithModes unchanged{.words = {words.begin(), words.end()}, .added = {}};
  // As of NVIDIA's driver: no module has to be read.
  if (!modes.rounds_to_even && !modes.keeps_subnormals_16) return unchanged;
  Floats floats = floats_of(words);
  const std::vector<Mode> added = added_modes(floats, modes);
  if (added.empty()) return unchanged;
  return {.words = copy_with(words, floats, added), .added = text_of(added)};
}

}  // namespace assay::gpu
