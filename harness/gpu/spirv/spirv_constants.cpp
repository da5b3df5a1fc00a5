#include "harness/gpu/spirv/spirv_constants.h"

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

}  // namespace assay::gpu
