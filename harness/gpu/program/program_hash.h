#pragma once

#include "harness/gpu/gpu.h"

#include <functional>

namespace assay::gpu {

/// A program with everything that decides what the device runs.
struct HashedProgram {
  const Program& program;
  std::span<const std::string>
      spirv;  ///< hash of each dispatch's SPIR-V, with the modes of floats it runs in
  std::span<const Physical> tensors;
  std::uint32_t guard = 0;                        ///< bytes
  std::function<std::uint32_t(Resource)> memory;  ///< property flags of a resource's memory type
};

/// Hash of a program. It is equal for two builds of one program and differs when SPIR-V, specialization
/// constants, workgroups, push constants, order or roles of dispatches, bindings, or the form, dtype, shape
/// or memory type of a bound resource differ. Text for people (labels, names of scratch) does not count, nor
/// does the order of specialization constants.
std::string program_hash(const HashedProgram& hashed);

}  // namespace assay::gpu
