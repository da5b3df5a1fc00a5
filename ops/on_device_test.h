#pragma once

// Runs an impl of an op on the default device and holds it against the reference.

#include "harness/core/op.h"
#include "harness/gpu/testing.h"

#include <map>
#include <string>
#include <vector>

namespace assay::ops {

/// One thing to run: an op with parameters, forms, data.
struct Trial {
  const Op* op = nullptr;
  Params params;
  std::vector<Form> forms;  ///< one per tensor
  FillKind fill = FillKind::Normal;
  std::uint64_t seed = 0;
  std::map<std::string, std::int64_t> tune;

  std::string describe() const;
};

/// With the validation layer on: any message fails the test.
class OnDeviceTest : public gpu::GpuTest {
 protected:
  /// Runs the op's first impl twice, over two poisons, and expects: outputs as the reference says, guards
  /// and inputs untouched.
  void expect_right(const Trial& trial);

  static gpu::ShaderLibrary& shaders();
};

/// `params` with every parameter that it lacks set to the op's default.
Params with_defaults(const Op& op, Params params);

}  // namespace assay::ops
