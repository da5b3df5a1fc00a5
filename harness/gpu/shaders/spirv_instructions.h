#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::gpu {

// Numbers of the SPIR-V specification, version 1.3: sections 3.7 (storage classes), 3.20 (decorations), 3.21
// (built-ins), 3.32 (instructions).
namespace spirv {

enum Opcode : std::uint16_t {
  OpName = 5,
  OpEntryPoint = 15,
  OpExecutionMode = 16,
  OpTypeBool = 20,
  OpTypeInt = 21,
  OpTypeFloat = 22,
  OpTypeVector = 23,
  OpTypeMatrix = 24,
  OpTypeImage = 25,
  OpTypeSampler = 26,
  OpTypeSampledImage = 27,
  OpTypeArray = 28,
  OpTypeRuntimeArray = 29,
  OpTypeStruct = 30,
  OpTypePointer = 32,
  OpConstantTrue = 41,
  OpConstantFalse = 42,
  OpConstant = 43,
  OpConstantComposite = 44,
  OpConstantNull = 46,
  OpSpecConstantTrue = 48,
  OpSpecConstantFalse = 49,
  OpSpecConstant = 50,
  OpSpecConstantComposite = 51,
  OpSpecConstantOp = 52,
  OpFunction = 54,
  OpFunctionEnd = 56,
  OpFunctionCall = 57,
  OpVariable = 59,
  OpDecorate = 71,
  OpMemberDecorate = 72,
  OpCompositeExtract = 81,
  OpUConvert = 113,
  OpSConvert = 114,
  OpBitcast = 124,
  OpSNegate = 126,
  OpIAdd = 128,
  OpISub = 130,
  OpIMul = 132,
  OpUDiv = 134,
  OpSDiv = 135,
  OpUMod = 137,
  OpLogicalEqual = 164,
  OpLogicalNotEqual = 165,
  OpLogicalOr = 166,
  OpLogicalAnd = 167,
  OpLogicalNot = 168,
  OpSelect = 169,
  OpIEqual = 170,
  OpINotEqual = 171,
  OpUGreaterThan = 172,
  OpSGreaterThan = 173,
  OpUGreaterThanEqual = 174,
  OpSGreaterThanEqual = 175,
  OpULessThan = 176,
  OpSLessThan = 177,
  OpULessThanEqual = 178,
  OpSLessThanEqual = 179,
  OpShiftRightLogical = 194,
  OpShiftRightArithmetic = 195,
  OpShiftLeftLogical = 196,
  OpBitwiseOr = 197,
  OpBitwiseXor = 198,
  OpBitwiseAnd = 199,
  OpNot = 200,
  OpExecutionModeId = 331,
};

enum StorageClass : std::uint32_t {
  UniformConstant = 0,
  Uniform = 2,
  Workgroup = 4,
  PushConstant = 9,
  StorageBuffer = 12,
};

enum Decoration : std::uint32_t {
  SpecId = 1,
  BufferBlock = 3,
  BuiltIn = 11,
  NonWritable = 24,
  NonReadable = 25,
  Binding = 33,
  DescriptorSet = 34,
  Offset = 35,
};

inline constexpr std::uint32_t built_in_workgroup_size = 25;
inline constexpr std::uint32_t mode_local_size = 17;
inline constexpr std::uint32_t mode_local_size_id = 38;
inline constexpr std::uint32_t model_gl_compute = 5;

}  // namespace spirv

/// One instruction of a SPIR-V module, valid as long as each_instruction() tells of it.
struct SpirvInstruction {
  std::uint16_t opcode = 0;
  std::uint32_t type = 0;                   ///< id of the result's type; 0: it has none
  std::uint32_t result = 0;                 ///< id; 0: it has none
  std::span<const std::uint32_t> operands;  ///< words behind those two
  std::span<const std::uint32_t> ids;       ///< of the operands those that are ids

  /// A literal string that begins at that operand.
  std::string text(std::size_t first) const;
};

/// Tells `visit` of each instruction in order. Throws Error("reading WHAT of a SPIR-V module: ...") where the
/// words are none; what `visit` throws passes through.
void each_instruction(std::span<const std::uint32_t> words, std::string_view what,
                      const std::function<void(const SpirvInstruction&)>& visit);

}  // namespace assay::gpu
