#include "harness/chain/chain_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

namespace assay::chain {
namespace {

constexpr std::int64_t bytes_per_word = 4;

Physical physical_of(const LayoutPlan& plan, const ResolvedChain& resolved, std::size_t value) {
  const TensorSpec& spec = resolved.tensors[plan.values[value].tensor].spec;
  return {plan.values[value].form, spec.dtype, spec.shape};
}

/// The program of one step, its dispatches labelled with the step's name.
Program program_of(const Step& step, const DeviceInfo& device) {
  const Tune tune;
  Program program = step.impl->build(BuildContext(step.params, step.specs, step.forms, device, tune));
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

}  // namespace assay::chain
