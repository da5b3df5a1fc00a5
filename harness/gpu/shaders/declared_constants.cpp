#include "harness/gpu/shaders/declared_constants.h"

#include "harness/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace assay::gpu {
namespace {

// The SPIR-V specification, version 1.3, sections 2.3 (physical layout), 3.20 (decorations), 3.32
// (instructions).
constexpr std::uint32_t magic = 0x07230203;
constexpr std::size_t header_words = 5;
constexpr std::uint32_t op_name = 5;
constexpr std::uint32_t op_type_int = 21;
constexpr std::uint32_t op_type_float = 22;
constexpr std::uint32_t op_spec_constant = 50;
constexpr std::uint32_t op_decorate = 71;
constexpr std::uint32_t decoration_spec_id = 1;
constexpr std::uint32_t constant_bits = 32;

[[noreturn]] void refuse(const std::string& why) {
  throw Error("reading the specialization constants of a SPIR-V module: " + why);
}

/// One instruction: its words behind the first.
struct Instruction {
  std::uint32_t opcode = 0;
  std::span<const std::uint32_t> operands;
  std::size_t at = 0;  ///< word of the module

  std::uint32_t operand(std::size_t i) const {
    if (i >= operands.size()) {
      refuse(fmt::format("the instruction at word {} has {} operands, fewer than its kind needs", at,
                         operands.size()));
    }
    return operands[i];
  }
};

Instruction instruction_at(std::span<const std::uint32_t> words, std::size_t at) {
  const std::size_t length = words[at] >> 16;
  if (length == 0 || length > words.size() - at) {
    refuse(fmt::format("the instruction at word {} says that it has {} words, and {} are left", at, length,
                       words.size() - at));
  }
  return {words[at] & 0xFFFFU, words.subspan(at + 1, length - 1), at};
}

/// A literal string: bytes from the lowest of each word on, up to the first zero.
std::string text_of(const Instruction& instruction, std::size_t first) {
  std::string text;
  for (std::size_t i = first; i < instruction.operands.size(); ++i) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      const char letter = static_cast<char>(instruction.operands[i] >> (8 * byte) & 0xFFU);
      if (letter == 0) return text;
      text += letter;
    }
  }
  refuse(fmt::format("the name at word {} does not end", instruction.at));
}

/// What the instructions say of results, by their ids.
struct Results {
  std::map<std::uint32_t, std::string> names;
  std::map<std::uint32_t, std::uint32_t> spec_ids;
  std::map<std::uint32_t, std::uint32_t> type_bits;       ///< of integer and float types
  std::map<std::uint32_t, std::uint32_t> constant_types;  ///< of constants; booleans have none here

  void read(const Instruction& instruction);
  void check_width(std::uint32_t result, std::uint32_t spec_id) const;
};

void Results::read(const Instruction& instruction) {
  switch (instruction.opcode) {
    case op_name:
      names[instruction.operand(0)] = text_of(instruction, 1);
      break;
    case op_decorate:
      if (instruction.operand(1) == decoration_spec_id) {
        spec_ids[instruction.operand(0)] = instruction.operand(2);
      }
      break;
    case op_type_int:
    case op_type_float:
      type_bits[instruction.operand(0)] = instruction.operand(1);
      break;
    case op_spec_constant:
      constant_types[instruction.operand(1)] = instruction.operand(0);
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
    refuse(fmt::format("constant '{}' (constant_id {}) is not 32 bits wide",
                       name == names.end() ? "" : name->second, spec_id));
  }
}

}  // namespace

std::vector<DeclaredConstant> declared_constants(std::span<const std::uint32_t> words) {
  if (words.size() < header_words || words[0] != magic) refuse("it does not begin as one");
  Results results;
  for (std::size_t at = header_words; at < words.size();) {
    const Instruction instruction = instruction_at(words, at);
    results.read(instruction);
    at += instruction.operands.size() + 1;
  }
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
