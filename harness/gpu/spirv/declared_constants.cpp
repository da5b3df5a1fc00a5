#include "harness/gpu/spirv/declared_constants.h"

#include "harness/base/error.h"
#include "harness/gpu/spirv/spirv_instructions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace assay::gpu {
namespace {

constexpr std::uint32_t constant_bits = 32;
constexpr std::string_view what = "the specialization constants";

/// Facts about the results of instructions, by id.
struct Results {
  std::map<std::uint32_t, std::string> names;
  std::map<std::uint32_t, std::uint32_t> spec_ids;
  std::map<std::uint32_t, std::uint32_t> type_bits;       ///< of integer and float types
  std::map<std::uint32_t, std::uint32_t> constant_types;  ///< of constants; booleans have none here

  void read(const SpirvInstruction& instruction);
  void check_width(std::uint32_t result, std::uint32_t spec_id) const;
};

void Results::read(const SpirvInstruction& instruction) {
  const auto& operands = instruction.operands;
  switch (instruction.opcode) {
    case spv::OpName:
      names[operands[0]] = instruction.text(1);
      break;
    case spv::OpDecorate:
      if (operands[1] == spv::DecorationSpecId) spec_ids[operands[0]] = operands[2];
      break;
    case spv::OpTypeInt:
    case spv::OpTypeFloat:
      type_bits[instruction.result] = operands[0];
      break;
    case spv::OpSpecConstant:
      constant_types[instruction.result] = instruction.type;
      break;
    default:
      break;
  }
}

void Results::check_width(std::uint32_t result, std::uint32_t spec_id) const {
  const auto type = constant_types.find(result);
  if (type == constant_types.end()) return;  // a boolean: 32 bits in Vulkan
  const auto bits = type_bits.find(type->second);
  if (bits == type_bits.end() || bits->second != constant_bits) {
    const auto name = names.find(result);
    throw Error(
        fmt::format("reading {} of a SPIR-V module: constant '{}' (constant_id {}) is not 32 bits wide", what,
                    name == names.end() ? "" : name->second, spec_id));
  }
}

}  // namespace

std::vector<DeclaredConstant> declared_constants(std::span<const std::uint32_t> words) {
  Results results;
  each_instruction(words, what, [&](const SpirvInstruction& instruction) { results.read(instruction); });
  std::vector<DeclaredConstant> constants;
  for (const auto& [result, spec_id] : results.spec_ids) {
    results.check_width(result, spec_id);
    const auto name = results.names.find(result);
    constants.push_back({spec_id, name == results.names.end() ? "" : name->second});
  }
  std::ranges::sort(constants, {}, &DeclaredConstant::id);
  return constants;
}

}  // namespace assay::gpu
