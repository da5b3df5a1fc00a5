#pragma once

#include "harness/chain/chain.h"
#include "harness/chain/node_times.h"
#include "harness/chain/planner/planner.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay::chain {

/// A tensor of a chain in one physical form: as its producer leaves it, as it enters, or as a copy.
struct ChainValue {
  std::size_t tensor = 0;  ///< in ResolvedChain::tensors
  Form form;
  friend bool operator==(const ChainValue&, const ChainValue&) = default;
};

/// One part of a chain's program: a node, or a copy of a tensor to another form.
struct Step {
  std::string name;  ///< the node's; "a to 4C1W" for a copy
  const Op* op = nullptr;
  const Impl* impl = nullptr;  ///< with a program
  Params params;
  std::vector<TensorSpec> specs;
  std::vector<Form> forms;          ///< one per spec
  std::vector<std::size_t> values;  ///< one per spec: index in LayoutPlan::values
  bool is_transition = false;
};

/// Where every tensor of a chain is in which form.
struct LayoutPlan {
  std::vector<ChainValue> values;
  std::vector<Step> steps;         ///< in the order in which they run
  std::vector<std::size_t> outer;  ///< the values of ResolvedChain::outer
  int transitions = 0;
  std::int64_t transition_bytes = 0;  ///< read and written by transitions
  std::vector<std::string> folded;  ///< nodes that change nothing and whose input and output are one resource
  bool is_exact = true;             ///< see Plan::is_exact
};

/// A value of a plan in words: "a as buffer/4W4C".
std::string name_of(const LayoutPlan& plan, const ResolvedChain& resolved, std::size_t value);

/// A chain at one point of a product, planned for a device.
struct PlannedChain {
  ResolvedChain resolved;
  LayoutPlan plan;
  std::int64_t peak_bytes = 0;  ///< of the program's intermediate tensors, see TimedChain
  std::string times_run;        ///< NodeTimes::run_id(), if it was planned by times
};

/// Plans the layouts of a chain on a device. `outer` has the forms of its tensors as an op. Throws Error,
/// with the name of the node, if the device can run a node in no form. With `times`, costs are times, not
/// bytes, and forms without a time are not used.
LayoutPlan plan_layouts(const Chain& chain, const ResolvedChain& resolved, std::span<const Form> outer,
                        const DeviceInfo& device, PlanMode mode, const NodeTimes* times = nullptr);

}  // namespace assay::chain
