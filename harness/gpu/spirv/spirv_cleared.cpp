#include "harness/gpu/spirv/spirv_cleared.h"

#include "harness/gpu/spirv/spirv_instructions.h"

#include <map>

namespace assay::gpu {
namespace {

constexpr std::size_t bound_word = 3;  ///< one more than the largest id
constexpr unsigned count_shift = 16;   ///< an instruction's first word: number of words, opcode

/// Copies a module and adds initializers.
class Clearing {
 public:
  explicit Clearing(std::span<const std::uint32_t> words)
      : words_(words), made_(words.begin(), words.begin() + spirv_header_words) {}

  void copy(const SpirvInstruction& instruction) {
    const std::size_t count = words_[at_] >> count_shift;
    if (instruction.opcode == spv::OpTypePointer) pointees_[instruction.result] = instruction.operands[1];
    const bool is_cleared = instruction.opcode == spv::OpVariable && instruction.operands.size() == 1 &&
                            instruction.operands[0] == spv::StorageClassWorkgroup;
    if (is_cleared) {
      add_cleared(instruction);
    } else {
      made_.insert(made_.end(), words_.begin() + static_cast<std::ptrdiff_t>(at_),
                   words_.begin() + static_cast<std::ptrdiff_t>(at_ + count));
    }
    at_ += count;
  }

  std::vector<std::uint32_t> result() && { return std::move(made_); }

 private:
  void add(std::uint16_t opcode, std::initializer_list<std::uint32_t> operands) {
    made_.push_back(static_cast<std::uint32_t>(operands.size() + 1) << count_shift | opcode);
    made_.insert(made_.end(), operands);
  }

  /// Constants and variables may follow each other in any order.
  void add_cleared(const SpirvInstruction& variable) {
    const std::uint32_t zero = made_[bound_word]++;
    add(spv::OpConstantNull, {pointees_[variable.type], zero});
    add(spv::OpVariable, {variable.type, variable.result, spv::StorageClassWorkgroup, zero});
  }

  std::span<const std::uint32_t> words_;
  std::size_t at_ = spirv_header_words;
  std::vector<std::uint32_t> made_;
  std::map<std::uint32_t, std::uint32_t> pointees_;  ///< by pointer type
};

}  // namespace

std::vector<std::uint32_t> with_cleared_workgroup_memory(std::span<const std::uint32_t> words) {
  if (words.size() < spirv_header_words) return {words.begin(), words.end()};
  Clearing clearing(words);
  each_instruction(words, "workgroup memory",
                   [&](const SpirvInstruction& instruction) { clearing.copy(instruction); });
  return std::move(clearing).result();
}

}  // namespace assay::gpu
