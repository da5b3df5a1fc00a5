#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::gpu {

/// A module with the cooperative matrices of SPV_KHR_cooperative_matrix in place of those of
/// SPV_NV_cooperative_matrix, which the distribution's glslang writes. What KHR's types say and NV's do not
/// is found in the data flow: the operands of products have the uses A and B, their sums and all others are
/// accumulators, and a type with several uses becomes several types. The layout of loads and stores becomes a
/// constant, and the signedness of components an operand of products. The words are a valid module
/// (spirv-val); one without matrices is returned as it is. Throws Error with the instruction for what has no
/// equal: a value with two uses, a matrix in a structure, a layout that is no constant, an instruction that
/// KHR's matrices do not take.
std::vector<std::uint32_t> with_khr_matrices(std::span<const std::uint32_t> words);

}  // namespace assay::gpu
