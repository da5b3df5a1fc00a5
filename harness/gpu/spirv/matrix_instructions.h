#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::gpu {

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

}  // namespace assay::gpu
