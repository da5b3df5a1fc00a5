#include "harness/chain/chain.h"
#include "harness/chain/chain_program.h"
#include "harness/chain/layout_plan.h"
#include "harness/chain/node_times.h"
#include "harness/tensor/dtype.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <stdexcept>
#include <utility>

namespace assay::chain {
namespace {

using SharedChain = std::shared_ptr<const Chain>;

std::vector<TensorSpec> tensors_of(const ResolvedChain& resolved) {
  std::vector<TensorSpec> tensors;
  for (const std::size_t outer : resolved.outer) {
    TensorSpec spec = resolved.tensors[outer].spec;
    // What leaves is compared bit for bit with what the steps left that were judged one by one.
    if (!spec.is_input()) spec.output_class = OutputClass::Exact;
    tensors.push_back(std::move(spec));
  }
  return tensors;
}

template <class T, class Convert>
void convert_all(const HostTensor& from, std::span<T> to, Convert convert) {
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = convert(static_cast<float>(from.at(static_cast<std::int64_t>(i))));
}

/// References may give floats in float64: as a device would store them.
HostTensor rounded(HostTensor tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  HostTensor to(dtype, tensor.shape());
  if (dtype == DType::F32) {
    convert_all(tensor, to.as<float>(), [](float value) { return value; });
  } else if (dtype == DType::F16) {
    convert_all(tensor, to.as<Half>(), to_half);
  } else {
    throw std::logic_error(
        fmt::format("a reference gave {} where the op declares {}", name_of(tensor.dtype()), name_of(dtype)));
  }
  return to;
}

/// The references of all nodes, one after the other.
std::vector<Expected> references_of(const Chain& chain, const Params& params,
                                    std::span<const HostTensor> inputs) {
  const ResolvedChain resolved = resolve(chain, params);
  std::vector<HostTensor> values(resolved.tensors.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) values[resolved.outer[i]] = inputs[i];
  for (const ResolvedNode& node : resolved.nodes) {
    std::vector<HostTensor> given;
    for (std::size_t i = 0; i < node.specs.size(); ++i) {
      if (node.specs[i].is_input()) given.push_back(values[node.tensors[i]]);
    }
    std::vector<Expected> expected = node.op->reference(node.params, given);
    std::size_t output = 0;
    for (std::size_t i = 0; i < node.specs.size(); ++i) {
      if (node.specs[i].is_input()) continue;
      values[node.tensors[i]] = rounded(std::move(expected[output++].values), node.specs[i].dtype);
    }
  }
  std::vector<Expected> leaving;
  for (const std::size_t outer : resolved.outer) {
    if (resolved.tensors[outer].leaves) leaving.push_back({values[outer], {}, {}, {}});
  }
  return leaving;
}

/// What enters is read once, what leaves written once, and every node computes what it computes alone.
Work work_of(const Chain& chain, const Params& params, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  for (const ResolvedNode& node : resolve(chain, params).nodes)
    work.operations += node.op->work(node.params, node.specs).operations;
  return work;
}

PlannedChain planned(const Chain& chain, const NodeTimes* times, PlanMode mode, const BuildContext& context) {
  PlannedChain made;
  made.resolved = resolve(chain, context.params);
  made.plan = plan_layouts(chain, made.resolved, context.forms, context.device, mode, times);
  if (times != nullptr) made.times_run = times->run_id();
  return made;
}

PlannedChain planned(const Chain& chain, const ChainImpl& impl, const BuildContext& context) {
  if (impl.by_time && !chain.times) throw Error(fmt::format("impl '{}' is planned by times only", impl.name));
  return planned(chain, impl.by_time ? chain.times.get() : nullptr, impl.mode, context);
}

/// Why the device can run the chain in no forms, whatever times are known; nothing if it can.
std::optional<std::string> why_unsupported(const Chain& chain, PlanMode mode,
                                           const BuildContext& context) try {
  planned(chain, nullptr, mode, context);
  return std::nullopt;
} catch (const Error& error) {
  return error.what();
}

/// Why a chain that the device can run cannot be planned by times, and what to do; nothing if it can.
std::optional<std::string> why_not_by_times(const Chain& chain, PlanMode mode, const BuildContext& context) {
  const std::string command = fmt::format(
      "measure them with `assay run {} --nodes --mode perf --out times`, "
      "then run this with --times times",
      chain.file.empty() ? "FILE" : chain.file);
  if (!chain.times) return "needs the times of its nodes in every form: " + command;
  if (const auto why = chain.times->refuse(context.device)) return fmt::format("{}: {}", *why, command);
  try {
    planned(chain, chain.times.get(), mode, context);
  } catch (const Error& error) {
    if (why_unsupported(chain, mode, context)) return std::nullopt;
    return fmt::format("planning by the times of run {}: {}: {}", chain.times->run_id(), error.what(),
                       command);
  }
  return std::nullopt;
}

/// The ceiling of the node with the most operations.
Ceiling ceiling_of_chain(const Chain& chain, const ChainImpl& impl, const BuildContext& context) {
  std::int64_t most = -1;
  Ceiling ceiling = Ceiling::Bandwidth;
  const Tune tune;
  const PlannedChain made = planned(chain, impl, context);
  for (const Step& step : made.plan.steps) {
    const std::int64_t operations = step.op->work(step.params, step.specs).operations;
    if (operations <= most) continue;
    most = operations;
    ceiling = ceiling_of(*step.impl, BuildContext(step.params, step.specs, step.forms, context.device, tune));
  }
  return ceiling;
}

Program build(const Chain& chain, const ChainImpl& impl, const BuildContext& context) {
  auto made = std::make_shared<PlannedChain>(planned(chain, impl, context));
  TimedChain timed = timed_program(made->plan, made->resolved, context.device);
  made->peak_bytes = timed.peak_bytes;
  timed.program.chain = std::move(made);
  return std::move(timed.program);
}

Impl impl_of(const SharedChain& chain, const ChainImpl& declared) {
  Impl impl;
  impl.name = declared.name;
  impl.summary = declared.summary;
  impl.ceiling_here = [chain, declared](const BuildContext& at) {
    return ceiling_of_chain(*chain, declared, at);
  };
  if (declared.by_time) {
    impl.skipped_reason = [chain, mode = declared.mode](const BuildContext& at) {
      return why_not_by_times(*chain, mode, at);
    };
  }
  impl.unsupported_reason = [chain, mode = declared.mode](const BuildContext& at) {
    return why_unsupported(*chain, mode, at);
  };
  impl.build = [chain, declared](const BuildContext& at) { return build(*chain, declared, at); };
  return impl;
}

std::string text_of(const ValueOrName& value) {
  if (const auto* name = std::get_if<ParamName>(&value)) return "$" + name->name;
  return to_string(std::get<Value>(value));
}

/// Everything that decides the answers: equal texts mean equal chains.
std::string definition_of(const Chain& chain) {
  std::string text;
  for (const OuterTensor& tensor : chain.tensors) {
    text += fmt::format("tensor {} {} {}", tensor.name, name_of(tensor.dtype), text_of(tensor.shape));
    if (tensor.qparams) text += " " + text_of(*tensor.qparams);
    text += '\n';
  }
  for (const NodeDecl& node : chain.nodes) {
    text += fmt::format("node {} {} {}", node.name, node.op->name, node.op->version);
    for (const auto& [name, value] : node.params) text += fmt::format(" {}={}", name, text_of(value));
    text += fmt::format(" {} {}\n", node.inputs, node.outputs);
  }
  return text + fmt::format("outputs {}\n", chain.outputs);
}

}  // namespace

const std::vector<ChainImpl>& chain_impls() {
  static const std::vector<ChainImpl> impls{
      {"naive", PlanMode::Naive, false, "every node in its op's first form"},
      {"greedy", PlanMode::Greedy, false, "one sweep over the nodes that looks ahead through their readers"},
      {"optimal", PlanMode::Optimal, false, "the forms whose transitions move the fewest bytes"},
      {"fastest", PlanMode::Optimal, true, "the forms with the least time, by measured times of all nodes"}};
  return impls;
}

Op op_of(Chain declared) {
  const auto chain = std::make_shared<const Chain>(std::move(declared));
  Op op;
  op.name = chain->name;
  op.summary = fmt::format("a chain of {} nodes", chain->nodes.size());
  op.params = chain->params;
  op.tensors = [chain](const Params& params) { return tensors_of(resolve(*chain, params)); };
  op.reference = [chain](const Params& params, std::span<const HostTensor> inputs) {
    return references_of(*chain, params, inputs);
  };
  op.work = [chain](const Params& params, std::span<const TensorSpec> tensors) {
    return work_of(*chain, params, tensors);
  };
  for (const ChainImpl& impl : chain_impls()) op.impls.push_back(impl_of(chain, impl));
  op.definition = definition_of(*chain);
  op.chain = chain;
  return op;
}

}  // namespace assay::chain
