#pragma once

#include "harness/gpu/gpu.h"

#include <functional>

namespace assay::gpu {

/// A program with all that decides what the device runs.
struct HashedProgram {
  const Program& program;
  std::span<const std::string> spirv;  ///< hash of each dispatch's SPIR-V
  std::span<const Physical> tensors;
  std::uint32_t guard = 0;                        ///< bytes
  std::function<std::uint32_t(Resource)> memory;  ///< property flags of the memory type that it lies in
};

/// Equal for two builds of one program, different when SPIR-V, specialization, workgroups, push constants,
/// the order or the roles of dispatches, what is bound where and how, its form, type or shape, or its memory
/// differ. What only people read (labels, names of scratch) does not count, nor does the order of
/// specialization constants.
std::string program_hash(const HashedProgram& hashed);

}  // namespace assay::gpu
