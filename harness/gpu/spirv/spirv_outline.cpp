#include "harness/gpu/spirv/spirv_outline.h"

#include "harness/gpu/spirv/spirv_instructions.h"

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

VariableUse use_of_variable(std::uint16_t opcode) {
  if (opcode >= spv::OpAtomicExchange && opcode <= spv::OpAtomicXor) return VariableUse::Updates;
  switch (opcode) {
    case spv::OpAccessChain:
    case spv::OpInBoundsAccessChain:
    case spv::OpPtrAccessChain:
    case spv::OpInBoundsPtrAccessChain:
    case spv::OpCopyObject:
    case spv::OpImageTexelPointer:
    case spv::OpImage:
    case spv::OpSampledImage:
      return VariableUse::PassesOn;
    case spv::OpLoad:
    case spv::OpAtomicLoad:
    case spv::OpImageRead:
    case spv::OpImageFetch:
    case spv::OpImageSampleImplicitLod:
    case spv::OpImageSampleExplicitLod:
    case spv::OpImageSampleDrefImplicitLod:
    case spv::OpImageSampleDrefExplicitLod:
    case spv::OpImageSampleProjImplicitLod:
    case spv::OpImageSampleProjExplicitLod:
    case spv::OpImageGather:
    case spv::OpImageDrefGather:
    case spv::OpCooperativeMatrixLoadNV:
    case op_matrix_load_khr:
      return VariableUse::Reads;
    case spv::OpStore:
    case spv::OpAtomicStore:
    case spv::OpImageWrite:
    case spv::OpCooperativeMatrixStoreNV:
    case op_matrix_store_khr:
      return VariableUse::Writes;
    case spv::OpImageQuerySize:
    case spv::OpImageQuerySizeLod:
    case spv::OpImageQueryLevels:
    case spv::OpImageQueryLod:
    case spv::OpArrayLength:
      return VariableUse::Asks;
    default:
      return VariableUse::Unknown;
  }
}

void SpirvAccess::read(const SpirvInstruction& instruction) {
  if (instruction.opcode == spv::OpFunction) in_function_ = true;
  if (instruction.opcode == spv::OpFunctionEnd) in_function_ = false;
  if (instruction.opcode == spv::OpVariable && !in_function_) {
    roots_[instruction.result] = instruction.result;
    if (instruction.operands[0] == spv::StorageClassUniformConstant) handles_.insert(instruction.result);
  } else if (in_function_) {
    follow(instruction);
  }
}

std::uint32_t SpirvAccess::root_of(std::uint32_t id) const {
  const auto found = roots_.find(id);
  return found == roots_.end() ? 0 : found->second;
}

void SpirvAccess::follow(const SpirvInstruction& instruction) {
  mentioned_.insert(instruction.ids.begin(), instruction.ids.end());
  const std::uint32_t first = instruction.ids.empty() ? 0 : root_of(instruction.ids.front());
  // A pointer that is not the first operand is stored, selected or passed on: it may be used in any way.
  const bool escapes = std::ranges::any_of(instruction.ids.subspan(instruction.ids.empty() ? 0 : 1),
                                           [&](std::uint32_t id) { return root_of(id) != 0; });
  if (escapes) {
    note_all(instruction);
  } else if (first != 0) {
    follow_pointer(instruction, first);
  }
}

void SpirvAccess::follow_pointer(const SpirvInstruction& instruction, std::uint32_t root) {
  if (instruction.opcode == spv::OpLoad && handles_.contains(root)) {
    roots_[instruction.result] = root;
    return;
  }
  switch (use_of_variable(instruction.opcode)) {
    case VariableUse::PassesOn:
      roots_[instruction.result] = root;
      break;
    case VariableUse::Reads:
      read_.insert(root);
      break;
    case VariableUse::Writes:
      written_.insert(root);
      break;
    case VariableUse::Updates:
      written_.insert(root);
      updated_.insert(root);
      atomics_[instruction.result] = root;
      break;
    case VariableUse::Asks:
      break;
    case VariableUse::Unknown:
      note_all(instruction);
      break;
  }
}

void SpirvAccess::note_all(const SpirvInstruction& instruction) {
  for (const std::uint32_t id : instruction.ids) {
    const std::uint32_t root = root_of(id);
    if (root == 0) continue;
    read_.insert(root);
    written_.insert(root);
    updated_.insert(root);
  }
}

bool SpirvAccess::is_read(std::uint32_t variable) const {
  return read_.contains(variable) || std::ranges::any_of(atomics_, [&](const auto& atomic) {
           return atomic.second == variable && mentioned_.contains(atomic.first);
         });
}

SpirvOutline::SpirvOutline(std::span<const std::uint32_t> words, std::string_view what) {
  each_instruction(words, what, [&](const SpirvInstruction& instruction) { keep(instruction); });
  forget_locals();
}

/// Called at the end, because names come before the objects they name, and calls before functions.
void SpirvOutline::forget_locals() {
  std::unordered_set<std::uint32_t> named, mentioned;
  for (const Kept& kept : all_) {
    const bool is_variable = kept.opcode == spv::OpVariable;
    if (is_variable || kept.opcode == spv::OpTypeStruct) named.insert(kept.result);
    if (is_variable || kept.opcode == spv::OpFunction) mentioned.insert(kept.result);
  }
  std::erase_if(all_, [&named](const Kept& kept) {
    return kept.opcode == spv::OpName && !named.contains(kept.operands[0]);
  });
  for (Kept& kept : all_) {
    if (kept.opcode == spv::OpNop) {
      std::erase_if(kept.ids, [&mentioned](std::uint32_t id) { return !mentioned.contains(id); });
    }
  }
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
