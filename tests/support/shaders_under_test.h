#pragma once

#include "harness/gpu/gpu.h"

#include <cstdlib>

namespace assay::test {

/// The shaders in the binary, after those in the folder that ASSAY_TEST_SHADERS names: kernels of the harness
/// with a fault (docs/faults.md). Nothing is cached.
inline gpu::ShaderOptions shaders_under_test() {
  gpu::ShaderOptions options{.directories = {}, .cache_directory = {}};
  if (const char* faulty = std::getenv("ASSAY_TEST_SHADERS"); faulty != nullptr)
    options.directories.emplace_back(faulty);
  return options;
}

}  // namespace assay::test
