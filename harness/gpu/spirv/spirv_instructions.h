#pragma once

#include <glslang/SPIRV/spirv.hpp>  // the numbers of the specification, namespace spv

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::gpu {

// Numbers from the SPIR-V registry for which Debian's glslang has no names.
inline constexpr std::uint32_t capability_dot_product_input_all = 6016;
inline constexpr std::uint32_t capability_dot_product = 6019;
inline constexpr std::uint32_t capability_cooperative_matrix_khr = 6022;

/// The name of the first of a module's capabilities that no kernel may have; empty when there is none. A
/// kernel may only compute from what its dispatch binds. Capabilities that read a clock (ShaderClockKHR),
/// access memory by address (PhysicalStorageBufferAddresses), or are unknown here could let a kernel detect
/// that it is timed, or find results of an earlier run.
std::string refused_capability(std::span<const std::uint32_t> capabilities);

/// Returns the name of a capability: "Float64", "number 6400 of the SPIR-V registry".
std::string capability_name(std::uint32_t capability);

// SPV_KHR_cooperative_matrix, for which the headers and tools of the distribution have neither names nor a
// parser.
inline constexpr std::uint16_t op_type_matrix_khr = 4456;  // and the four after it
inline constexpr std::uint16_t op_matrix_load_khr = 4457;
inline constexpr std::uint16_t op_matrix_store_khr = 4458;
inline constexpr std::uint16_t op_matrix_mul_add_khr = 4459;
inline constexpr std::uint16_t op_matrix_length_khr = 4460;

/// The last operand of a matrix type, as a constant.
enum class MatrixUse : std::uint32_t { A = 0, B = 1, Accumulator = 2 };

/// The layout in memory of a load or a store, as a constant.
enum class MatrixLayout : std::uint32_t { RowMajor = 0, ColumnMajor = 1 };

/// Bits of a product's last operand: which operands have signed components.
inline constexpr std::uint32_t matrix_a_signed = 1, matrix_b_signed = 2, matrix_c_signed = 4,
                               matrix_result_signed = 8, matrix_saturates = 16;

constexpr bool is_matrix_khr(std::uint32_t opcode) {
  return op_type_matrix_khr <= opcode && opcode <= op_matrix_length_khr;
}

/// The parts of one such instruction.
struct MatrixInstruction {
  std::uint32_t type = 0;                   ///< 0: it has none
  std::uint32_t result = 0;                 ///< 0: it has none
  std::span<const std::uint32_t> operands;  ///< words after type and result
  std::vector<std::uint32_t> ids;           ///< those operands that are ids
};

/// Takes the words of an instruction of the extension apart. Throws Error for one that is too short or has
/// more words than it can have.
MatrixInstruction matrix_instruction(std::span<const std::uint32_t> words);

/// Words before the first instruction of a module.
inline constexpr std::size_t spirv_header_words = 5;
/// The word of the header that is one more than the largest id.
inline constexpr std::size_t spirv_bound_word = 3;

/// One instruction of a SPIR-V module, valid only during the call of each_instruction()'s visitor.
struct SpirvInstruction {
  std::uint16_t opcode = 0;
  std::uint32_t type = 0;                   ///< id of the result's type; 0: it has none
  std::uint32_t result = 0;                 ///< id; 0: it has none
  std::span<const std::uint32_t> operands;  ///< words after type and result
  std::span<const std::uint32_t> ids;       ///< those operands that are ids
  std::size_t at = 0;                       ///< the index of its first word in the module

  /// The literal string that begins at operand `first`.
  std::string text(std::size_t first) const;
};

/// Calls `visit` for each instruction in order. Throws Error("reading WHAT of a SPIR-V module: ...") when the
/// words are no SPIR-V module; exceptions of `visit` pass through.
void each_instruction(std::span<const std::uint32_t> words, std::string_view what,
                      const std::function<void(const SpirvInstruction&)>& visit);

/// The same for those before the first function: types, constants, global variables, and what is said of ids.
void each_global_instruction(std::span<const std::uint32_t> words, std::string_view what,
                             const std::function<void(const SpirvInstruction&)>& visit);

}  // namespace assay::gpu
