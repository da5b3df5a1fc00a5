#include "harness/gpu/spirv/spirv_rules.h"

#include "harness/gpu/gpu.h"
#include "harness/gpu/spirv/spirv_instructions.h"

#include <fmt/format.h>
#include <glslang/SPIRV/doc.h>
#include <spirv-tools/libspirv.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace assay::gpu {
namespace {

/// A range of numbers of the SPIR-V registry, both ends included.
struct Numbers {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

template <std::size_t count>
bool is_among(const std::array<Numbers, count>& allowed, std::uint32_t number) {
  return std::ranges::any_of(
      allowed, [&](const Numbers& range) { return range.first <= number && number <= range.last; });
}

constexpr std::array instructions{
    Numbers{spv::OpNop, spv::OpLine},
    Numbers{spv::OpExtension, spv::OpExtInst},
    Numbers{spv::OpMemoryModel, spv::OpCapability},
    Numbers{spv::OpTypeVoid, spv::OpTypeStruct},
    Numbers{spv::OpTypePointer, spv::OpTypeFunction},
    Numbers{spv::OpConstantTrue, spv::OpConstantComposite},
    Numbers{spv::OpConstantNull, spv::OpConstantNull},
    Numbers{spv::OpSpecConstantTrue, spv::OpSpecConstantOp},
    Numbers{spv::OpFunction, spv::OpFunctionCall},
    Numbers{spv::OpVariable, spv::OpStore},
    Numbers{spv::OpAccessChain, spv::OpInBoundsAccessChain},
    Numbers{spv::OpArrayLength, spv::OpArrayLength},
    Numbers{spv::OpDecorate, spv::OpMemberDecorate},
    Numbers{spv::OpVectorExtractDynamic, spv::OpTranspose},
    Numbers{spv::OpSampledImage, spv::OpImageSampleExplicitLod},
    Numbers{spv::OpImageFetch, spv::OpImageGather},
    Numbers{spv::OpImageRead, spv::OpImage},
    Numbers{spv::OpImageQuerySizeLod, spv::OpImageQuerySize},
    Numbers{spv::OpImageQueryLevels, spv::OpImageQueryLevels},
    Numbers{spv::OpConvertFToU, spv::OpQuantizeToF16},
    Numbers{spv::OpBitcast, spv::OpBitcast},
    Numbers{spv::OpSNegate, spv::OpSMulExtended},
    Numbers{spv::OpAny, spv::OpIsInf},
    Numbers{spv::OpLogicalEqual, spv::OpFUnordGreaterThanEqual},
    Numbers{spv::OpShiftRightLogical, spv::OpBitCount},
    Numbers{spv::OpControlBarrier, spv::OpMemoryBarrier},
    Numbers{spv::OpAtomicLoad, spv::OpAtomicXor},
    Numbers{spv::OpPhi, spv::OpSwitch},
    Numbers{spv::OpReturn, spv::OpUnreachable},
    Numbers{spv::OpNoLine, spv::OpNoLine},
    Numbers{spv::OpCopyLogical, spv::OpCopyLogical},
    Numbers{spv::OpModuleProcessed, spv::OpExecutionModeId},
    Numbers{spv::OpGroupNonUniformElect, spv::OpGroupNonUniformQuadSwap},
    Numbers{spv::OpSubgroupBallotKHR, spv::OpSubgroupFirstInvocationKHR},
    Numbers{spv::OpSubgroupAllKHR, spv::OpSubgroupAllEqualKHR},
    Numbers{spv::OpSubgroupReadInvocationKHR, spv::OpSubgroupReadInvocationKHR},
    Numbers{spv::OpSDotKHR, spv::OpSUDotAccSatKHR},
    Numbers{op_type_matrix_khr, op_matrix_length_khr},
    Numbers{spv::OpTypeCooperativeMatrixNV, spv::OpCooperativeMatrixLengthNV},
};

constexpr std::array<std::string_view, 11> extensions{
    "SPV_KHR_16bit_storage",       "SPV_KHR_8bit_storage",        "SPV_KHR_cooperative_matrix",
    "SPV_KHR_float_controls",      "SPV_KHR_integer_dot_product", "SPV_KHR_no_integer_wrap_decoration",
    "SPV_KHR_shader_ballot",       "SPV_KHR_subgroup_vote",       "SPV_KHR_storage_buffer_storage_class",
    "SPV_KHR_vulkan_memory_model", "SPV_NV_cooperative_matrix",
};

constexpr std::array execution_modes{
    Numbers{spv::ExecutionModeLocalSize, spv::ExecutionModeLocalSize},
    Numbers{spv::ExecutionModeLocalSizeId, spv::ExecutionModeLocalSizeId},
    Numbers{spv::ExecutionModeDenormPreserve, spv::ExecutionModeRoundingModeRTZ},
};

constexpr std::array storage_classes{
    Numbers{spv::StorageClassUniformConstant, spv::StorageClassUniform},
    Numbers{spv::StorageClassWorkgroup, spv::StorageClassWorkgroup},
    Numbers{spv::StorageClassPrivate, spv::StorageClassFunction},
    Numbers{spv::StorageClassPushConstant, spv::StorageClassPushConstant},
    Numbers{spv::StorageClassImage, spv::StorageClassStorageBuffer},
};

constexpr std::array built_ins{
    Numbers{spv::BuiltInNumWorkgroups, spv::BuiltInLocalInvocationIndex},
    Numbers{spv::BuiltInSubgroupSize, spv::BuiltInSubgroupSize},
    Numbers{spv::BuiltInNumSubgroups, spv::BuiltInNumSubgroups},
    Numbers{spv::BuiltInSubgroupId, spv::BuiltInSubgroupLocalInvocationId},
    Numbers{spv::BuiltInSubgroupEqMask, spv::BuiltInSubgroupLtMask},
};

constexpr std::array decorations{
    Numbers{spv::DecorationRelaxedPrecision, spv::DecorationMatrixStride},
    Numbers{spv::DecorationBuiltIn, spv::DecorationBuiltIn},
    Numbers{spv::DecorationRestrict, spv::DecorationUniform},
    Numbers{spv::DecorationBinding, spv::DecorationOffset},
    Numbers{spv::DecorationNoContraction, spv::DecorationNoContraction},
    Numbers{spv::DecorationNoSignedWrap, spv::DecorationNoUnsignedWrap},
};

std::string named(const char* name, std::uint32_t number) {
  const std::string_view known = name == nullptr ? "Bad" : name;
  return known == "Bad" || known.empty() ? fmt::format("number {} of the SPIR-V registry", number)
                                         : std::string(known);
}

/// Reads a module and keeps the first thing that is not allowed.
class RuleReader {
 public:
  void read(const SpirvInstruction& instruction);
  /// Empty: everything is allowed.
  const std::string& found() const { return found_; }
  const std::vector<std::uint32_t>& capabilities() const { return capabilities_; }

 private:
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  ///< id, member or ~0, decoration

  void refuse(std::string_view what) {
    if (found_.empty()) found_ = what;
  }
  void read_global(const SpirvInstruction& instruction);
  void read_mode(const SpirvInstruction& instruction);
  void read_decoration(std::uint32_t id, std::uint32_t member, std::span<const std::uint32_t> words);

  std::string found_;
  std::vector<std::uint32_t> capabilities_;
  std::set<Place> decorated_;
  std::set<std::uint32_t> modes_;
  bool has_entry_ = false;
  bool has_workgroup_size_ = false;
};

void RuleReader::read(const SpirvInstruction& instruction) {
  if (!is_among(instructions, instruction.opcode)) {
    refuse(
        fmt::format("the instruction {}", named(spv::OpcodeString(instruction.opcode), instruction.opcode)));
  }
  read_global(instruction);
}

void RuleReader::read_global(const SpirvInstruction& instruction) {
  constexpr std::uint32_t no_member = ~0U;
  const auto& operands = instruction.operands;
  switch (instruction.opcode) {
    case spv::OpCapability:
      capabilities_.push_back(operands[0]);
      break;
    case spv::OpExtension:
      if (std::ranges::find(extensions, instruction.text(0)) == extensions.end())
        refuse(fmt::format("the extension {}", instruction.text(0)));
      break;
    case spv::OpExtInstImport:
      if (instruction.text(0) != "GLSL.std.450")
        refuse(fmt::format("the instruction set {}", instruction.text(0)));
      break;
    case spv::OpEntryPoint:
      if (std::exchange(has_entry_, true)) refuse("a second entry point");
      break;
    case spv::OpExecutionMode:
    case spv::OpExecutionModeId:
      read_mode(instruction);
      break;
    case spv::OpVariable:
      if (!is_among(storage_classes, operands[0])) {
        refuse(fmt::format("the storage class {}",
                           named(spv::StorageClassString(static_cast<int>(operands[0])), operands[0])));
      }
      break;
    case spv::OpDecorate:
      read_decoration(operands[0], no_member, operands.subspan(1));
      break;
    case spv::OpMemberDecorate:
      read_decoration(operands[0], operands[1], operands.subspan(2));
      break;
    default:
      break;
  }
}

void RuleReader::read_mode(const SpirvInstruction& instruction) {
  const std::uint32_t mode = instruction.operands[1];
  const std::string name = named(spv::ExecutionModeString(static_cast<int>(mode)), mode);
  const bool is_size = mode == spv::ExecutionModeLocalSize || mode == spv::ExecutionModeLocalSizeId;
  if (!is_among(execution_modes, mode)) refuse(fmt::format("the execution mode {}", name));
  if (is_size && !modes_.insert(spv::ExecutionModeLocalSize).second) refuse("a second workgroup size");
}

void RuleReader::read_decoration(std::uint32_t id, std::uint32_t member,
                                 std::span<const std::uint32_t> words) {
  const std::uint32_t decoration = words[0];
  const std::string name = named(spv::DecorationString(static_cast<int>(decoration)), decoration);
  if (!is_among(decorations, decoration)) refuse(fmt::format("the decoration {}", name));
  const bool has_value = words.size() > 1;
  if (has_value && !decorated_.insert({id, member, decoration}).second)
    refuse(fmt::format("a second decoration {} of one object", name));
  if (decoration != spv::DecorationBuiltIn || !has_value) return;
  if (!is_among(built_ins, words[1]))
    refuse(fmt::format("the built-in {}", named(spv::BuiltInString(static_cast<int>(words[1])), words[1])));
  if (words[1] == spv::BuiltInWorkgroupSize && std::exchange(has_workgroup_size_, true))
    refuse("a second workgroup size");
}

/// The first Vulkan that takes modules of that version of SPIR-V.
spv_target_env environment_of(std::span<const std::uint32_t> words) {
  constexpr std::uint32_t minor_shift = 8;
  const std::uint32_t version = words.size() > 1 ? words[1] >> minor_shift : 0;
  if (version >= 0x106) return SPV_ENV_VULKAN_1_3;
  if (version == 0x105) return SPV_ENV_VULKAN_1_2;
  if (version == 0x104) return SPV_ENV_VULKAN_1_1_SPIRV_1_4;
  return SPV_ENV_VULKAN_1_1;
}

}  // namespace

std::optional<std::string> forbidden_in(std::span<const std::uint32_t> words) {
  RuleReader reader;
  each_instruction(words, "the instructions",
                   [&](const SpirvInstruction& instruction) { reader.read(instruction); });
  if (const std::string refused = refused_capability(reader.capabilities()); !refused.empty())
    return fmt::format("the shader uses the SPIR-V capability {}", refused);
  if (reader.found().empty()) return std::nullopt;
  return fmt::format("its SPIR-V has {}", reader.found());
}

std::optional<std::string> validate_spirv(const std::vector<std::uint32_t>& words) {
  std::string complaints;
  spvtools::SpirvTools listening(environment_of(words));
  listening.SetMessageConsumer(
      [&complaints](spv_message_level_t, const char*, const spv_position_t&, const char* message) {
        complaints += std::string(message) + '\n';
      });
  spvtools::ValidatorOptions options;
  options.SetFriendlyNames(false);  // they take as long as everything else
  if (listening.Validate(words.data(), words.size(), options)) {
    return std::nullopt;
  }
  return complaints.empty() ? "invalid SPIR-V" : complaints;
}

void check_module(const std::string& display, const std::vector<std::uint32_t>& words) try {
  if (const auto forbidden = forbidden_in(words)) {
    throw CompileError(
        fmt::format("{}: {}, which no kernel may have: kernels may only compute from what is bound to them, "
                    "and every reader of the module must understand it in one way",
                    display, *forbidden));
  }
  if (const auto complaints = validate_spirv(words)) {
    throw CompileError(
        fmt::format("{}: its SPIR-V is invalid, which no kernel may be: {}", display, *complaints));
  }
} catch (const CompileError&) {
  throw;
} catch (const Error& error) {
  // What our reader cannot read is invalid, too: a compiler may write what the source demands.
  throw CompileError(
      fmt::format("{}: its SPIR-V is invalid, which no kernel may be: {}", display, error.what()));
}

}  // namespace assay::gpu
