#include "harness/gpu/spirv/spirv_instructions.h"

#include "harness/base/error.h"

#include <fmt/format.h>
#include <spirv-tools/libspirv.h>

#include <exception>
#include <memory>

namespace assay::gpu {
namespace {

/// The state of the parser's callback. The parser is C, so no exception may pass through it.
struct Visit {
  const std::function<void(const SpirvInstruction&)>& visit;
  std::vector<std::uint32_t> ids;
  std::exception_ptr thrown;
};

bool is_id(spv_operand_type_t type) {
  return type == SPV_OPERAND_TYPE_ID || type == SPV_OPERAND_TYPE_MEMORY_SEMANTICS_ID ||
         type == SPV_OPERAND_TYPE_SCOPE_ID;
}

spv_result_t tell(void* data, const spv_parsed_instruction_t* parsed) {
  Visit& visit = *static_cast<Visit*>(data);
  const std::span<const std::uint32_t> words(parsed->words, parsed->num_words);
  const std::size_t first = 1U + (parsed->type_id != 0 ? 1 : 0) + (parsed->result_id != 0 ? 1 : 0);
  visit.ids.clear();
  for (const spv_parsed_operand_t& operand : std::span(parsed->operands, parsed->num_operands)) {
    if (is_id(operand.type)) visit.ids.push_back(words[operand.offset]);
  }
  try {
    visit.visit({.opcode = parsed->opcode,
                 .type = parsed->type_id,
                 .result = parsed->result_id,
                 .operands = words.subspan(first),
                 .ids = visit.ids});
  } catch (...) {
    visit.thrown = std::current_exception();
    return SPV_REQUESTED_TERMINATION;
  }
  return SPV_SUCCESS;
}

}  // namespace

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
  const std::unique_ptr<spv_context_t, decltype(&spvContextDestroy)> context(
      spvContextCreate(SPV_ENV_UNIVERSAL_1_6), &spvContextDestroy);
  Visit visiting{visit, {}, nullptr};
  spv_diagnostic raw = nullptr;
  const spv_result_t result =
      spvBinaryParse(context.get(), &visiting, words.data(), words.size(), nullptr, tell, &raw);
  const std::unique_ptr<spv_diagnostic_t, decltype(&spvDiagnosticDestroy)> diagnostic(raw,
                                                                                      &spvDiagnosticDestroy);
  if (visiting.thrown) std::rethrow_exception(visiting.thrown);
  if (result == SPV_SUCCESS) return;
  throw Error(fmt::format("reading {} of a SPIR-V module: {}", what,
                          diagnostic != nullptr ? diagnostic->error : "it is none"));
}

}  // namespace assay::gpu
