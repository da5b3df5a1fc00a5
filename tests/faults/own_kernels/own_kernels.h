#pragma once

#include "harness/op/program.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::test {

/// What is compiled of a kernel.
struct Variant {
  std::string shader;
  std::vector<Define> defines;
};

/// A file of a kernel that no row of a case runs, and the unit tests that check it.
struct OwnKernel {
  std::string file;        ///< path below shaders/
  std::string executable;  ///< of the tests
  std::string tests;       ///< a filter of GoogleTest
  std::vector<Variant> variants;
};

/// The kernels of shaders/harness and shaders/ceilings, and what these share.
std::vector<OwnKernel> own_kernels();

/// The SPIR-V of each variant, optimized: equal results run equally. The file in `folder`, if there is one,
/// is taken in place of the one in the binary. Throws gpu::CompileError.
std::vector<std::vector<std::uint32_t>> compiled(const OwnKernel& kernel,
                                                 const std::filesystem::path& folder);

/// How tests ended.
struct TestsRun {
  std::size_t ran = 0;              ///< tests that ended
  std::vector<std::string> failed;  ///< their names
  std::string unfinished;           ///< the test in which the process crashed or hung; empty: none
};

/// What GoogleTest printed, as far as it came.
TestsRun parse_tests(const std::string& output);

/// Runs a kernel's tests with the shaders of this folder before those in the binary (empty: none). Throws
/// std::runtime_error if that is no test's doing, as where the executable cannot be started.
TestsRun run_tests(const OwnKernel& kernel, const std::filesystem::path& folder);

}  // namespace assay::test
