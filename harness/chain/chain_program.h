#pragma once

#include "harness/chain/layout_plan.h"

#include <cstdint>
#include <vector>

namespace assay::chain {

/// A chain's program and the memory of its intermediate tensors.
struct TimedChain {
  Program program;
  std::int64_t peak_bytes =
      0;  ///< of intermediate tensors, which share memory where their lifetimes allow it
};

/// The program that is timed. Tensors are numbered as in ResolvedChain::outer.
TimedChain timed_program(const LayoutPlan& plan, const ResolvedChain& resolved, const DeviceInfo& device);

/// The same steps with every intermediate tensor and every copy as an output of its own, so that each step
/// can be judged by what it found in its inputs.
struct SeparateChain {
  Program program;
  std::vector<TensorSpec> tensors;           ///< those that enter, then one per written value
  std::vector<Form> forms;                   ///< one per tensor
  std::vector<std::size_t> tensor_of_value;  ///< index in `tensors`
};
SeparateChain separate_program(const LayoutPlan& plan, const ResolvedChain& resolved,
                               const DeviceInfo& device);

}  // namespace assay::chain
