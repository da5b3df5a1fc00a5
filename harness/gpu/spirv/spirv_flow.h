#pragma once

#include "harness/gpu/spirv/spirv_instructions.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace assay::gpu {

/// An instruction of main() in which all calls are replaced by what they call. Ids that belong to a function
/// are new for each of its calls.
struct FlowInstruction {
  std::uint16_t opcode = spv::OpNop;
  std::uint32_t result = 0;        ///< 0: it has none. OpReturnValue has that of the call, too
  std::vector<std::uint32_t> ids;  ///< its operands that are ids; labels are left out
};

/// Instructions without a branch between them.
struct FlowBlock {
  std::vector<FlowInstruction> instructions;
  std::vector<std::size_t> next;  ///< the blocks that may come after it: none at main()'s end
};

/// What main() of a module does, block by block.
struct SpirvFlow {
  struct Variable {
    std::uint32_t storage_class = 0;
    std::optional<std::uint32_t> binding, built_in;
  };

  std::vector<FlowBlock> blocks;                     ///< main() begins with the first
  std::map<std::uint32_t, Variable> variables;       ///< by id, those of functions, too
  std::map<std::uint32_t, std::uint32_t> constants;  ///< the values of integers of 32 bits
  std::uint32_t first_free_id = 0;                   ///< all ids are smaller
};

/// Reads a module. Throws Error as each_instruction() does, and for a module without main(), with functions
/// that call themselves, or of more than 200,000 instructions.
SpirvFlow flow_of(std::span<const std::uint32_t> words);

/// For each block the nearest one through which all ways from it to the end lead; blocks.size() if that is
/// the end itself, or if no way leads there. Ways that never end are left out. (K. Cooper, T. Harvey, K.
/// Kennedy: "A simple, fast dominance algorithm", on the reversed graph.)
std::vector<std::size_t> immediate_postdominators(std::span<const FlowBlock> blocks);

}  // namespace assay::gpu
