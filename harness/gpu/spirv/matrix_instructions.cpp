#include "harness/gpu/spirv/matrix_instructions.h"

#include "harness/base/error.h"

#include <fmt/format.h>
#include <glslang/SPIRV/spirv.hpp>

#include <cstddef>

namespace assay::gpu {
namespace {

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

}  // namespace

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

}  // namespace assay::gpu
