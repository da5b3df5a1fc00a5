#include "harness/chain/chain_program.h"

#include "harness/chain/chain.h"
#include "harness/chain/layout_plan.h"
#include "harness/chain/node_times.h"
#include "harness/tensor/dtype.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace assay::chain {
namespace {

using SharedChain = std::shared_ptr<const Chain>;

constexpr std::int64_t bytes_per_word = 4;

Physical physical_of(const LayoutPlan& plan, const ResolvedChain& resolved, std::size_t value) {
  const TensorSpec& spec = resolved.tensors[plan.values[value].tensor].spec;
  return {plan.values[value].form, spec.dtype, spec.shape};
}

/// The program of one step, its dispatches labelled with the step's name.
Program program_of(const Step& step, const DeviceInfo& device) {
  const Tune tune;
  BuildContext context(step.params, step.specs, step.forms, device, tune);
  context.is_node_of_chain = true;
  Program program = step.impl->build(context);
  for (Dispatch& dispatch : program.dispatches) {
    dispatch.label = step.name + "/" + dispatch.label;
    if (step.is_transition && dispatch.role == DispatchRole::Op) dispatch.role = DispatchRole::Transition;
  }
  for (Scratch& scratch : program.scratch) scratch.name = step.name + "/" + scratch.name;
  return program;
}

void append_step(Program& program, const Step& step, const std::vector<Resource>& of_values,
                 const DeviceInfo& device) {
  std::vector<Resource> tensors;
  for (const std::size_t value : step.values) tensors.push_back(of_values[value]);
  append(program, program_of(step, device), tensors);
}

/// Scratch that intermediate tensors share. A buffer is for any tensor that fits; a texture is for tensors of
/// its own kind.
class SharedMemory {
 public:
  explicit SharedMemory(Program& program) : program_(&program) {}

  /// Returns scratch for a tensor, which keeps its memory until it is given back.
  Resource take(const std::string& name, const Physical& physical) {
    const std::size_t slot = is_texture(physical.form()) ? texture_for(physical) : buffer_for(physical);
    slots_[slot].is_free = false;
    const Resource taken = add_scratch(*program_, {.name = name,
                                                   .dtype = physical.dtype(),
                                                   .shape = physical.shape(),
                                                   .form = physical.form(),
                                                   .in_memory_of = slots_[slot].resource.index});
    slot_of_[taken.index] = slot;
    return taken;
  }

  void give_back(Resource taken) { slots_[slot_of_.at(taken.index)].is_free = true; }

  std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const Slot& slot : slots_) sum += slot.bytes;
    return sum;
  }

 private:
  struct Slot {
    Resource resource;
    std::int64_t bytes = 0;
    std::optional<Physical> texture;
    bool is_free = true;
  };

  /// The smallest free buffer that is large enough, else the largest free one, which grows, else a new one.
  std::size_t buffer_for(const Physical& physical) {
    const std::int64_t bytes = physical.bytes();
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (!slots_[i].is_free || slots_[i].texture) continue;
      if (!best || is_better(slots_[i].bytes, slots_[*best].bytes, bytes)) best = i;
    }
    if (!best) {
      best = slots_.size();
      slots_.push_back({add("memory", DType::I32, {1}, {}), 0, std::nullopt});
    }
    Slot& slot = slots_[*best];
    slot.bytes = std::max(slot.bytes, bytes);
    program_->scratch[slot.resource.index].shape = {div_up(slot.bytes, bytes_per_word)};
    return *best;
  }

  static bool is_better(std::int64_t one, std::int64_t than, std::int64_t wanted) {
    if ((one >= wanted) != (than >= wanted)) return one >= wanted;
    return one >= wanted ? one < than : one > than;
  }

  std::size_t texture_for(const Physical& physical) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const std::optional<Physical>& known = slots_[i].texture;
      const bool fits = known && known->form() == physical.form() && known->dtype() == physical.dtype() &&
                        known->shape() == physical.shape();
      if (fits && slots_[i].is_free) return i;
    }
    slots_.push_back(
        {add("texture", physical.dtype(), physical.shape(), physical.form()), physical.bytes(), physical});
    return slots_.size() - 1;
  }

  Resource add(const char* kind, DType dtype, Shape shape, Form form) {
    return add_scratch(*program_, {.name = fmt::format("{} {}", kind, slots_.size()),
                                   .dtype = dtype,
                                   .shape = std::move(shape),
                                   .form = form});
  }

  Program* program_;
  std::vector<Slot> slots_;
  std::map<std::uint32_t, std::size_t> slot_of_;  ///< by index of the scratch that was taken
};

/// The last step that reads or writes each value.
std::vector<std::size_t> last_uses(const LayoutPlan& plan) {
  std::vector<std::size_t> last(plan.values.size(), 0);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    for (const std::size_t value : plan.steps[i].values) last[value] = i;
  }
  return last;
}

bool is_written_by(const Step& step, std::size_t slot) {
  return !step.specs[slot].is_input();
}

/// Whether a step reads a value that another one has written to a tensor of the program.
bool reads_outputs(const LayoutPlan& plan, const std::vector<Resource>& of_values,
                   const ResolvedChain& resolved) {
  for (const Step& step : plan.steps) {
    for (std::size_t i = 0; i < step.values.size(); ++i) {
      const std::size_t value = step.values[i];
      if (!is_written_by(step, i) && of_values[value].kind == Resource::Kind::Tensor &&
          !resolved.tensors[plan.values[value].tensor].enters())
        return true;
    }
  }
  return false;
}

constexpr const char* reads_outputs_because = "nodes of a chain read the tensors that earlier nodes wrote";

std::uint32_t place_in_outer(const ResolvedChain& resolved, std::size_t tensor) {
  return static_cast<std::uint32_t>(std::ranges::find(resolved.outer, tensor) - resolved.outer.begin());
}

std::vector<TensorSpec> tensors_of(const ResolvedChain& resolved) {
  std::vector<TensorSpec> tensors;
  for (const std::size_t outer : resolved.outer) {
    const ResolvedTensor& tensor = resolved.tensors[outer];
    TensorSpec spec = tensor.spec;
    if (tensor.begins_as) spec.starts_as = place_in_outer(resolved, *tensor.begins_as);
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
  std::vector<std::vector<std::uint8_t>> kept(resolved.tensors.size());
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
      kept[node.tensors[i]] = std::move(expected[output].kept);
      values[node.tensors[i]] = rounded(std::move(expected[output++].values), node.specs[i].dtype);
    }
  }
  std::vector<Expected> leaving;
  for (const std::size_t outer : resolved.outer) {
    if (resolved.tensors[outer].leaves)
      leaving.push_back({.values = values[outer], .kept = std::move(kept[outer])});
  }
  return leaving;
}

std::int64_t bytes_of(const TensorSpec& spec) {
  return numel(spec.shape) * static_cast<std::int64_t>(size_of(spec.dtype));
}

/// Of a tensor that is written in part: what its readers need of it, the rows that exist.
std::int64_t bytes_that_exist(const TensorSpec& before) {
  const std::optional<std::int64_t>& rows = before.domain.valid;
  return rows ? bytes_of(before) / before.shape[before.domain.valid_axis] * *rows : bytes_of(before);
}

/// What enters is read once, what leaves written once, and every node computes what it computes alone. Of a
/// tensor that is written in part nobody reads or writes the rest.
Work work_of(const Chain& chain, const Params& params, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  const ResolvedChain resolved = resolve(chain, params);
  for (const ResolvedNode& node : resolved.nodes) {
    const Work own = node.op->work(node.params, node.specs);
    work.operations += own.operations;
    if (is_written_in_part(node.specs)) work.bytes_written += own.bytes_written;
  }
  for (const ResolvedTensor& tensor : resolved.tensors) {
    if (!tensor.begins_as) continue;
    const TensorSpec& before = resolved.tensors[*tensor.begins_as].spec;
    work.bytes_written -= bytes_of(before);
    work.bytes_read -= bytes_of(before);
    if (!tensor.consumers.empty()) work.bytes_read += bytes_that_exist(before);
  }
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

TimedChain timed_program(const LayoutPlan& plan, const ResolvedChain& resolved, const DeviceInfo& device) {
  TimedChain made;
  std::vector<std::optional<Resource>> outer(plan.values.size());
  for (std::size_t i = 0; i < plan.outer.size(); ++i)
    outer[plan.outer[i]] = Resource::tensor(static_cast<std::uint32_t>(i));
  SharedMemory memory(made.program);
  std::vector<Resource> of_values(plan.values.size());
  const std::vector<std::size_t> last = last_uses(plan);
  for (std::size_t i = 0; i < plan.values.size(); ++i) {
    if (outer[i]) of_values[i] = *outer[i];
  }
  for (std::size_t at = 0; at < plan.steps.size(); ++at) {
    const Step& step = plan.steps[at];
    for (std::size_t i = 0; i < step.values.size(); ++i) {
      const std::size_t value = step.values[i];
      if (is_written_by(step, i) && !outer[value])
        of_values[value] = memory.take(name_of(plan, resolved, value), physical_of(plan, resolved, value));
    }
    for (const std::size_t value : step.values) {
      if (!outer[value] && last[value] == at) memory.give_back(of_values[value]);
    }
  }
  for (const Step& step : plan.steps) append_step(made.program, step, of_values, device);
  if (reads_outputs(plan, of_values, resolved)) made.program.free_access_because = reads_outputs_because;
  made.peak_bytes = memory.bytes();
  return made;
}

SeparateChain separate_program(const LayoutPlan& plan, const ResolvedChain& resolved,
                               const DeviceInfo& device) {
  SeparateChain made;
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  made.tensor_of_value.assign(plan.values.size(), none);
  for (const std::size_t value : plan.outer) {
    const ResolvedTensor& tensor = resolved.tensors[plan.values[value].tensor];
    if (!tensor.enters()) continue;
    made.tensor_of_value[value] = made.tensors.size();
    made.tensors.push_back(tensor.spec);
    made.forms.push_back(plan.values[value].form);
  }
  for (const Step& step : plan.steps) {
    for (std::size_t i = 0; i < step.values.size(); ++i) {
      if (!is_written_by(step, i)) continue;
      made.tensor_of_value[step.values[i]] = made.tensors.size();
      made.tensors.push_back(step.specs[i]);
      made.tensors.back().name = fmt::format("{}/{}", step.name, step.specs[i].name);
      if (const auto before = step.specs[i].starts_as) {
        made.tensors.back().starts_as =
            static_cast<std::uint32_t>(made.tensor_of_value[step.values[*before]]);
      }
      made.forms.push_back(step.forms[i]);
    }
  }
  std::vector<Resource> of_values;
  for (const std::size_t tensor : made.tensor_of_value)
    of_values.push_back(Resource::tensor(static_cast<std::uint32_t>(tensor)));
  for (const Step& step : plan.steps) append_step(made.program, step, of_values, device);
  made.program.free_access_because = reads_outputs_because;
  return made;
}

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
