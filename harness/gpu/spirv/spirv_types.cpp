#include "harness/gpu/spirv/spirv_types.h"

#include <algorithm>
#include <limits>

namespace assay::gpu {
namespace {

using Value = std::optional<std::uint32_t>;

std::int32_t as_signed(std::uint32_t value) {
  return static_cast<std::int32_t>(value);
}

Value of_two_booleans(std::uint32_t opcode, bool a, bool b) {
  switch (opcode) {
    case spv::OpLogicalEqual:
      return a == b;
    case spv::OpLogicalNotEqual:
      return a != b;
    case spv::OpLogicalOr:
      return a || b;
    case spv::OpLogicalAnd:
      return a && b;
    default:
      return std::nullopt;
  }
}

Value compared(std::uint32_t opcode, std::uint32_t a, std::uint32_t b) {
  switch (opcode) {
    case spv::OpIEqual:
      return a == b;
    case spv::OpINotEqual:
      return a != b;
    case spv::OpUGreaterThan:
      return a > b;
    case spv::OpUGreaterThanEqual:
      return a >= b;
    case spv::OpULessThan:
      return a < b;
    case spv::OpULessThanEqual:
      return a <= b;
    case spv::OpSGreaterThan:
      return as_signed(a) > as_signed(b);
    case spv::OpSGreaterThanEqual:
      return as_signed(a) >= as_signed(b);
    case spv::OpSLessThan:
      return as_signed(a) < as_signed(b);
    case spv::OpSLessThanEqual:
      return as_signed(a) <= as_signed(b);
    default:
      return of_two_booleans(opcode, a != 0, b != 0);
  }
}

/// A quotient or remainder; nothing when the specification leaves it undefined.
Value divided(std::uint32_t opcode, std::uint32_t a, std::uint32_t b) {
  if (b == 0) return std::nullopt;
  if (opcode == spv::OpUDiv) return a / b;
  if (opcode == spv::OpUMod) return a % b;
  const bool overflows = as_signed(a) == std::numeric_limits<std::int32_t>::min() && as_signed(b) == -1;
  if (overflows) return std::nullopt;
  return static_cast<std::uint32_t>(as_signed(a) / as_signed(b));
}

Value shifted(std::uint32_t opcode, std::uint32_t a, std::uint32_t b) {
  constexpr std::uint32_t bits = 32;
  if (b >= bits) return std::nullopt;
  if (opcode == spv::OpShiftLeftLogical) return a << b;
  if (opcode == spv::OpShiftRightLogical) return a >> b;
  return static_cast<std::uint32_t>(as_signed(a) >> b);
}

Value of_two(std::uint32_t opcode, std::uint32_t a, std::uint32_t b) {
  switch (opcode) {
    case spv::OpIAdd:
      return a + b;
    case spv::OpISub:
      return a - b;
    case spv::OpIMul:
      return a * b;
    case spv::OpUDiv:
    case spv::OpSDiv:
    case spv::OpUMod:
      return divided(opcode, a, b);
    case spv::OpShiftRightLogical:
    case spv::OpShiftRightArithmetic:
    case spv::OpShiftLeftLogical:
      return shifted(opcode, a, b);
    case spv::OpBitwiseOr:
      return a | b;
    case spv::OpBitwiseXor:
      return a ^ b;
    case spv::OpBitwiseAnd:
      return a & b;
    default:
      return compared(opcode, a, b);
  }
}

Value of_one(std::uint32_t opcode, std::uint32_t a) {
  switch (opcode) {
    case spv::OpUConvert:
    case spv::OpSConvert:
    case spv::OpBitcast:
      return a;
    case spv::OpSNegate:
      return 0U - a;
    case spv::OpNot:
      return ~a;
    case spv::OpLogicalNot:
      return a == 0;
    default:
      return std::nullopt;
  }
}

/// Larger sizes are clamped to this: no device supports them, and sums of clamped sizes do not overflow.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 60;

std::uint64_t times(std::uint64_t bytes, std::uint64_t count) {
  if (bytes == 0 || count == 0) return 0;
  return count > most_bytes / bytes ? most_bytes : bytes * count;
}

std::uint64_t aligned(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

void set_size(SpirvType& type, std::uint64_t bytes, std::uint64_t alignment) {
  type.bytes = std::min(bytes, most_bytes);
  type.alignment = std::max<std::uint64_t>(alignment, 1);
  type.has_size = true;
}

void lay_out_vector(SpirvType& type, const SpirvType& element) {
  const std::uint64_t count = type.operands[1];
  set_size(type, times(element.bytes, count), times(element.bytes, count == 3 ? 4 : count));
}

}  // namespace

Value SpirvConstants::value(std::uint32_t id) const {
  const auto found = values_.find(id);
  return found == values_.end() ? std::nullopt : Value(found->second);
}

std::vector<std::uint32_t> SpirvConstants::members(std::uint32_t id) const {
  const auto found = members_.find(id);
  return found == members_.end() ? std::vector<std::uint32_t>{} : found->second;
}

Value SpirvConstants::specialized(std::uint32_t id, std::uint32_t fallback) const {
  const auto spec_id = spec_ids_.find(id);
  if (spec_id == spec_ids_.end()) return fallback;
  const auto given = specialization_.find(spec_id->second);
  return given == specialization_.end() ? fallback : given->second;
}

/// Evaluates an operation: an opcode and its operands, which are defined earlier and so have their values.
Value SpirvConstants::evaluated(std::span<const std::uint32_t> operation) const {
  const std::uint32_t opcode = operation.front();
  const std::span<const std::uint32_t> operands = operation.subspan(1);
  if (opcode == spv::OpCompositeExtract && operands.size() == 2) {
    const std::vector<std::uint32_t> from = members(operands[0]);
    return operands[1] < from.size() ? value(from[operands[1]]) : std::nullopt;
  }
  std::vector<std::uint32_t> values;
  for (const std::uint32_t operand : operands) {
    const Value known = value(operand);
    if (!known) return std::nullopt;
    values.push_back(*known);
  }
  if (values.size() == 1) return of_one(opcode, values[0]);
  if (values.size() == 2) return of_two(opcode, values[0], values[1]);
  if (values.size() == 3 && opcode == spv::OpSelect) return values[0] != 0 ? values[1] : values[2];
  return std::nullopt;
}

void SpirvConstants::read(const SpirvInstruction& instruction) {
  const auto& operands = instruction.operands;
  const auto keep = [&](Value value) {
    if (value) values_[instruction.result] = *value;
  };
  switch (instruction.opcode) {
    case spv::OpDecorate:
      if (operands[1] == spv::DecorationSpecId) spec_ids_[operands[0]] = operands[2];
      break;
    case spv::OpConstant:
      if (operands.size() == 1) keep(operands[0]);
      break;
    case spv::OpSpecConstant:
      if (operands.size() == 1) keep(specialized(instruction.result, operands[0]));
      break;
    case spv::OpConstantTrue:
    case spv::OpConstantFalse:
      keep(instruction.opcode == spv::OpConstantTrue);
      break;
    case spv::OpSpecConstantTrue:
    case spv::OpSpecConstantFalse:
      keep(specialized(instruction.result, instruction.opcode == spv::OpSpecConstantTrue));
      break;
    case spv::OpConstantNull:
      keep(0);
      break;
    case spv::OpConstantComposite:
    case spv::OpSpecConstantComposite:
      members_[instruction.result] = {operands.begin(), operands.end()};
      break;
    case spv::OpSpecConstantOp:
      keep(evaluated(operands));
      break;
    default:
      break;
  }
}

const SpirvType* SpirvTypes::find(std::uint32_t id) const {
  const auto found = types_.find(id);
  return found == types_.end() ? nullptr : &found->second;
}

std::uint32_t SpirvTypes::pointee_id(std::uint32_t pointer) const {
  const SpirvType* type = find(pointer);
  return type != nullptr && type->opcode == spv::OpTypePointer ? type->operands[1] : 0;
}

const SpirvType* SpirvTypes::pointee(std::uint32_t pointer) const {
  return find(pointee_id(pointer));
}

void SpirvTypes::read(const SpirvInstruction& instruction, const SpirvConstants& constants) {
  if (instruction.opcode < spv::OpTypeBool || instruction.opcode > spv::OpTypePointer) return;
  SpirvType type{.opcode = instruction.opcode,
                 .operands = {instruction.operands.begin(), instruction.operands.end()}};
  lay_out(type, constants);
  types_[instruction.result] = std::move(type);
}

void SpirvTypes::lay_out(SpirvType& type, const SpirvConstants& constants) const {
  constexpr std::uint32_t bits_per_byte = 8;
  const SpirvType* element = type.operands.empty() ? nullptr : find(type.operands[0]);
  switch (type.opcode) {
    case spv::OpTypeBool:
      return set_size(type, sizeof(std::uint32_t), sizeof(std::uint32_t));
    case spv::OpTypeInt:
    case spv::OpTypeFloat:
      return set_size(type, type.operands[0] / bits_per_byte, type.operands[0] / bits_per_byte);
    case spv::OpTypeVector:
      if (element != nullptr && element->has_size) lay_out_vector(type, *element);
      return;
    case spv::OpTypeMatrix:
      return lay_out_array(type, type.operands[1]);
    case spv::OpTypeArray:
      return lay_out_array(type, constants.value(type.operands[1]));
    case spv::OpTypeStruct:
      return lay_out_struct(type);
    default:
      return;
  }
}

void SpirvTypes::lay_out_array(SpirvType& type, std::optional<std::uint64_t> length) const {
  const SpirvType* element = find(type.operands[0]);
  if (element == nullptr || !element->has_size || !length) return;
  set_size(type, times(aligned(element->bytes, element->alignment), *length), element->alignment);
}

void SpirvTypes::lay_out_struct(SpirvType& type) const {
  std::uint64_t end = 0;
  std::uint64_t alignment = 1;
  for (const std::uint32_t id : type.operands) {
    const SpirvType* member = find(id);
    if (member == nullptr || !member->has_size) return;
    end = std::min(aligned(end, member->alignment) + member->bytes, most_bytes);
    alignment = std::max(alignment, member->alignment);
  }
  set_size(type, aligned(end, alignment), alignment);
}

void SpirvDecoration::add(std::span<const std::uint32_t> words) {
  switch (words[0]) {
    case spv::DecorationDescriptorSet:
      set = words[1];
      break;
    case spv::DecorationBinding:
      binding = words[1];
      break;
    case spv::DecorationOffset:
      offset = words[1];
      break;
    case spv::DecorationBuiltIn:
      built_in = words[1];
      break;
    case spv::DecorationSpecId:
      spec_id = words[1];
      break;
    case spv::DecorationArrayStride:
      array_stride = words[1];
      break;
    case spv::DecorationMatrixStride:
      matrix_stride = words[1];
      break;
    case spv::DecorationRowMajor:
      row_major = true;
      break;
    case spv::DecorationNonWritable:
      non_writable = true;
      break;
    case spv::DecorationBufferBlock:
      buffer_block = true;
      break;
    default:
      break;
  }
}

void SpirvDecorations::read(const SpirvInstruction& instruction) {
  const auto& operands = instruction.operands;
  if (instruction.opcode == spv::OpDecorate) {
    by_id_[operands[0]].add(operands.subspan(1));
  } else if (instruction.opcode == spv::OpMemberDecorate) {
    by_member_[{operands[0], operands[1]}].add(operands.subspan(2));
  }
}

SpirvDecoration SpirvDecorations::of(std::uint32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? SpirvDecoration{} : found->second;
}

SpirvDecoration SpirvDecorations::of_member(std::uint32_t structure, std::uint32_t member) const {
  const auto found = by_member_.find({structure, member});
  return found == by_member_.end() ? SpirvDecoration{} : found->second;
}

std::optional<std::uint32_t> SpirvDecorations::built_in(std::uint32_t number) const {
  for (const auto& [id, decoration] : by_id_) {
    if (decoration.built_in == number) return id;
  }
  return std::nullopt;
}

}  // namespace assay::gpu
