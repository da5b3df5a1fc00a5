#include "harness/gpu/spirv/spirv_instructions.h"

#include "harness/base/error.h"

#include <fmt/format.h>
#include <glslang/SPIRV/doc.h>
#include <glslang/SPIRV/spirv.hpp>
#include <spirv-tools/libspirv.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>

namespace assay::gpu {
namespace {

/// A range of capability numbers, both ends included.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

constexpr std::array computing = {
    // Matrix, Shader; Float16, Float64, Int64, Int64Atomics; Int16; Int8
    Range{spv::CapabilityMatrix, spv::CapabilityShader},
    Range{spv::CapabilityFloat16Buffer, spv::CapabilityInt64Atomics},
    Range{spv::CapabilityInt16, spv::CapabilityInt16},
    Range{spv::CapabilityInt8, spv::CapabilityInt8},
    // Images, in formats of every kind
    Range{spv::CapabilityStorageImageExtendedFormats, spv::CapabilityImageQuery},
    Range{spv::CapabilityStorageImageReadWithoutFormat, spv::CapabilityStorageImageWriteWithoutFormat},
    // Subgroups
    Range{spv::CapabilityGroupNonUniform, spv::CapabilityGroupNonUniformQuad},
    Range{spv::CapabilitySubgroupBallotKHR, spv::CapabilitySubgroupBallotKHR},
    Range{spv::CapabilitySubgroupVoteKHR, spv::CapabilitySubgroupVoteKHR},
    // Narrow values in buffers and push constants
    Range{spv::CapabilityStorageBuffer16BitAccess, spv::CapabilityStoragePushConstant16},
    Range{spv::CapabilityStorageBuffer8BitAccess, spv::CapabilityStoragePushConstant8},
    // How floats are rounded
    Range{spv::CapabilityDenormPreserve, spv::CapabilityRoundingModeRTZ},
    // Memory model, matrix units, dot products
    Range{spv::CapabilityVulkanMemoryModel, spv::CapabilityVulkanMemoryModelDeviceScope},
    Range{spv::CapabilityCooperativeMatrixNV, spv::CapabilityCooperativeMatrixNV},
    Range{capability_dot_product_input_all, capability_dot_product},
    Range{capability_cooperative_matrix_khr, capability_cooperative_matrix_khr},
};

bool computes(std::uint32_t capability) {
  return std::ranges::any_of(
      computing, [&](const Range& range) { return range.first <= capability && capability <= range.last; });
}

/// How an instruction's words are divided.
struct Shape {
  bool has_type = false, has_result = false;
  std::size_t ids = 0;         ///< operands that must be there
  std::size_t more_ids = 0;    ///< and may follow
  bool memory_access = false;  ///< then a mask with its operands may follow
  bool mask = false;           ///< then a mask may follow
};

Shape shape_of(std::uint32_t opcode) {
  switch (opcode) {
    case op_type_matrix_khr:
      return {.has_result = true, .ids = 5};
    case op_matrix_load_khr:
      return {.has_type = true, .has_result = true, .ids = 2, .more_ids = 1, .memory_access = true};
    case op_matrix_store_khr:
      return {.ids = 3, .more_ids = 1, .memory_access = true};
    case op_matrix_mul_add_khr:
      return {.has_type = true, .has_result = true, .ids = 3, .mask = true};
    default:
      return {.has_type = true, .has_result = true, .ids = 1};
  }
}

/// The ids among the operands of a mask for memory accesses.
std::vector<std::uint32_t> ids_of_access(std::span<const std::uint32_t> access) {
  std::vector<std::uint32_t> ids;
  if (access.empty()) return ids;
  std::size_t next = 1 + ((access[0] & spv::MemoryAccessAlignedMask) != 0 ? 1 : 0);
  for (const std::uint32_t bit :
       {spv::MemoryAccessMakePointerAvailableMask, spv::MemoryAccessMakePointerVisibleMask}) {
    if ((access[0] & bit) != 0 && next < access.size()) ids.push_back(access[next++]);
  }
  return ids;
}

/// The state of the parser's callback. The parser is C, so no exception may pass through it.
struct Visit {
  const std::function<void(const SpirvInstruction&)>& visit;
  std::span<const std::uint32_t> words;   ///< the module as it is
  bool only_global = false;               ///< stops at the first function
  std::size_t at = spirv_header_words;    ///< of the parser's next instruction
  std::size_t told = spirv_header_words;  ///< what lies before has been visited
  std::vector<std::uint32_t> ids;
  std::exception_ptr thrown;
  bool has_stopped = false;
};

bool is_id(spv_operand_type_t type) {
  return type == SPV_OPERAND_TYPE_ID || type == SPV_OPERAND_TYPE_MEMORY_SEMANTICS_ID ||
         type == SPV_OPERAND_TYPE_SCOPE_ID;
}

/// Visits an instruction that the parser sees as a row of OpNop.
void visit_matrix(Visit& visit) {
  const std::size_t count = visit.words[visit.told] >> spv::WordCountShift;
  const MatrixInstruction matrix = matrix_instruction(visit.words.subspan(visit.told, count));
  visit.visit({.opcode = static_cast<std::uint16_t>(visit.words[visit.told] & spv::OpCodeMask),
               .type = matrix.type,
               .result = matrix.result,
               .operands = matrix.operands,
               .ids = matrix.ids,
               .at = visit.told});
  visit.told += count;
}

void visit_parsed(Visit& visit, const spv_parsed_instruction_t& parsed) {
  const std::span<const std::uint32_t> words = visit.words.subspan(visit.told, parsed.num_words);
  const std::size_t first = 1U + (parsed.type_id != 0 ? 1 : 0) + (parsed.result_id != 0 ? 1 : 0);
  visit.ids.clear();
  for (const spv_parsed_operand_t& operand : std::span(parsed.operands, parsed.num_operands)) {
    if (is_id(operand.type)) visit.ids.push_back(words[operand.offset]);
  }
  visit.visit({.opcode = parsed.opcode,
               .type = parsed.type_id,
               .result = parsed.result_id,
               .operands = words.subspan(first),
               .ids = visit.ids,
               .at = visit.told});
  visit.told += parsed.num_words;
}

spv_result_t tell(void* data, const spv_parsed_instruction_t* parsed) {
  Visit& visit = *static_cast<Visit*>(data);
  const bool is_told = visit.at < visit.told;  // a further OpNop of a matrix instruction
  visit.at += parsed->num_words;
  if (is_told) return SPV_SUCCESS;
  if (visit.only_global && parsed->opcode == spv::OpFunction) {
    visit.has_stopped = true;
    return SPV_REQUESTED_TERMINATION;
  }
  try {
    if (is_matrix_khr(visit.words[visit.told] & spv::OpCodeMask)) {
      visit_matrix(visit);
    } else {
      visit_parsed(visit, *parsed);
    }
  } catch (...) {
    visit.thrown = std::current_exception();
    return SPV_REQUESTED_TERMINATION;
  }
  return SPV_SUCCESS;
}

/// A module of the same length that the parser knows: the instructions of SPV_KHR_cooperative_matrix are rows
/// of OpNop, and its capability is that of the NV extension. Nothing if the module has none of them.
std::optional<std::vector<std::uint32_t>> known_to_parser(std::span<const std::uint32_t> words) {
  constexpr std::uint32_t nop = 1U << spv::WordCountShift | spv::OpNop;
  std::optional<std::vector<std::uint32_t>> made;
  const auto change = [&](std::size_t at, std::size_t count, std::uint32_t to) {
    if (!made) made.emplace(words.begin(), words.end());
    std::fill_n(made->begin() + static_cast<std::ptrdiff_t>(at), count, to);
  };
  std::size_t count = 0;
  for (std::size_t at = spirv_header_words; at < words.size(); at += count) {
    const std::uint32_t opcode = words[at] & spv::OpCodeMask;
    count = words[at] >> spv::WordCountShift;
    if (count == 0 || count > words.size() - at) break;  // the parser says so
    if (is_matrix_khr(opcode)) change(at, count, nop);
    // The opcode that a specialization constant is computed by comes after its type and its id.
    constexpr std::size_t inner = 3;
    if (opcode == spv::OpSpecConstantOp && count > inner && words[at + inner] == op_matrix_length_khr)
      change(at + inner, 1, spv::OpCooperativeMatrixLengthNV);
    if (opcode == spv::OpCapability && count == 2 && words[at + 1] == capability_cooperative_matrix_khr)
      change(at + 1, 1, spv::CapabilityCooperativeMatrixNV);
  }
  return made;
}

void parse(Visit visiting, std::string_view what) {
  const std::unique_ptr<spv_context_t, decltype(&spvContextDestroy)> context(
      spvContextCreate(SPV_ENV_UNIVERSAL_1_6), &spvContextDestroy);
  const std::optional<std::vector<std::uint32_t>> known = known_to_parser(visiting.words);
  const std::span<const std::uint32_t> parsed =
      known ? std::span<const std::uint32_t>(*known) : visiting.words;
  spv_diagnostic raw = nullptr;
  const spv_result_t result =
      spvBinaryParse(context.get(), &visiting, parsed.data(), parsed.size(), nullptr, tell, &raw);
  const std::unique_ptr<spv_diagnostic_t, decltype(&spvDiagnosticDestroy)> diagnostic(raw,
                                                                                      &spvDiagnosticDestroy);
  if (visiting.thrown) std::rethrow_exception(visiting.thrown);
  if (result == SPV_SUCCESS || visiting.has_stopped) return;
  throw Error(fmt::format("reading {} of a SPIR-V module: {}", what,
                          diagnostic != nullptr ? diagnostic->error : "it is none"));
}

}  // namespace

std::string refused_capability(std::span<const std::uint32_t> capabilities) {
  const auto found = std::ranges::find_if_not(capabilities, computes);
  return found == capabilities.end() ? "" : capability_name(*found);
}

std::string capability_name(std::uint32_t capability) {
  const std::string name = spv::CapabilityString(static_cast<int>(capability));
  return name == "Bad" ? fmt::format("number {} of the SPIR-V registry", capability) : name;
}

MatrixInstruction matrix_instruction(std::span<const std::uint32_t> words) {
  const std::uint32_t opcode = words[0] & spv::OpCodeMask;
  const Shape shape = shape_of(opcode);
  const std::size_t first = 1U + (shape.has_type ? 1 : 0) + (shape.has_result ? 1 : 0);
  if (words.size() < first + shape.ids) {
    throw Error(fmt::format("instruction {} of SPV_KHR_cooperative_matrix has {} words, and needs {}", opcode,
                            words.size(), first + shape.ids));
  }
  MatrixInstruction made{.operands = words.subspan(first)};
  if (shape.has_type) made.type = words[1];
  if (shape.has_result) made.result = words[first - 1];
  std::size_t ids = shape.ids;
  if (shape.more_ids > 0 && made.operands.size() > ids) ++ids;
  made.ids.assign(made.operands.begin(), made.operands.begin() + static_cast<std::ptrdiff_t>(ids));
  const std::span<const std::uint32_t> rest = made.operands.subspan(ids);
  if (shape.memory_access) {
    const std::vector<std::uint32_t> more = ids_of_access(rest);
    made.ids.insert(made.ids.end(), more.begin(), more.end());
  } else if (rest.size() > (shape.mask ? 1U : 0U)) {
    throw Error(fmt::format("instruction {} of SPV_KHR_cooperative_matrix has {} words too many", opcode,
                            rest.size() - (shape.mask ? 1U : 0U)));
  }
  return made;
}

std::string SpirvInstruction::text(std::size_t first) const {
  std::string text;
  for (std::size_t i = first; i < operands.size(); ++i) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      const char letter = static_cast<char>(operands[i] >> (8 * byte) & 0xFFU);
      if (letter == 0) return text;
      text += letter;
    }
  }
  return text;
}

void each_instruction(std::span<const std::uint32_t> words, std::string_view what,
                      const std::function<void(const SpirvInstruction&)>& visit) {
  parse({.visit = visit, .words = words, .ids = {}, .thrown = nullptr}, what);
}

void each_global_instruction(std::span<const std::uint32_t> words, std::string_view what,
                             const std::function<void(const SpirvInstruction&)>& visit) {
  parse({.visit = visit, .words = words, .only_global = true, .ids = {}, .thrown = nullptr}, what);
}

}  // namespace assay::gpu
