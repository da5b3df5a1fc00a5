#include "harness/engine/accuracy/experiment_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace assay {
namespace {

/// Bytes of a guard that no longer hold the poison.
struct Damage {
  std::int64_t bytes = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// `first_offset` is where the guard starts in its allocation.
Damage damage(std::span<const std::byte> guard, Poison poison, std::uint64_t first_offset) {
  std::vector<std::byte> clean(guard.size());
  fill_poison(clean, poison, first_offset);
  Damage found;
  for (std::size_t i = 0; i < guard.size(); ++i) {
    if (guard[i] == clean[i]) continue;
    if (found.bytes++ == 0) found.first = static_cast<std::int64_t>(i);
    found.last = static_cast<std::int64_t>(i);
  }
  return found;
}

/// By the names of the bound buffers how much of their memory the kernel sees: the least of all dispatches.
std::map<std::string, Binding::Range> seen_ranges(const Program& program, std::span<const TensorSpec> tensors,
                                                  std::span<const Form> forms) {
  std::map<std::string, Binding::Range> seen;
  for (const Dispatch& dispatch : program.dispatches) {
    for (const Binding& binding : dispatch.bindings) {
      const bool is_tensor = binding.resource.kind == Resource::Kind::Tensor;
      const std::uint32_t index = binding.resource.index;
      if ((is_tensor ? forms[index] : program.scratch[index].form).storage != Storage::Buffer) continue;
      const std::string name = is_tensor ? tensors[index].name : program.scratch[index].name;
      Binding::Range& range = seen.try_emplace(name, binding.range).first->second;
      range = std::max(range, binding.range);
    }
  }
  return seen;
}

bool lies_as_it_is(const HostTensor& input, const Physical& physical) {
  return input.dtype() == physical.dtype() && input.shape() == physical.shape() && physical.is_contiguous() &&
         !has_padding(physical);
}

std::vector<Resource> resources_of(const Case& test_case, bool inputs) {
  std::vector<Resource> found;
  for (std::uint32_t i = 0; i < test_case.tensors->size(); ++i) {
    if (test_case.tensors[i].is_input() == inputs) found.push_back(Resource::tensor(i));
  }
  return found;
}

/// What becomes the content of outputs that are updated in place.
std::vector<gpu::DeviceMemory::Copy> updated_in(const Case& test_case) {
  std::vector<gpu::DeviceMemory::Copy> copies;
  for (std::uint32_t i = 0; i < test_case.tensors->size(); ++i) {
    if (const auto input = test_case.tensors[i].starts_as)
      copies.push_back({Resource::tensor(*input), Resource::tensor(i)});
  }
  return copies;
}

}  // namespace

std::string guards_seen(const Program& program, std::span<const TensorSpec> tensors,
                        std::span<const Form> forms) {
  const std::map<std::string, Binding::Range> seen = seen_ranges(program, tensors, forms);
  const auto is_whole = [](const auto& one) { return one.second == Binding::Range::All; };
  if (seen.empty()) return "";
  if (std::ranges::all_of(seen, is_whole)) return "both";
  std::string text;
  for (const auto& [name, range] : seen) {
    const char* word = range == Binding::Range::All            ? "both"
                       : range == Binding::Range::DataAndAfter ? "after"
                                                               : "none";
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, word);
  }
  return text;
}

void check_guards(const std::string& name, const Guards& guards, Poison poison, std::vector<Finding>& found) {
  const Damage before = damage(guards.before, poison, 0);
  if (before.bytes > 0) {
    const auto size = static_cast<std::int64_t>(guards.before.size());
    found.push_back({"write_out_of_bounds",
                     fmt::format("'{}' was written before its start: {} bytes, the nearest at start-{}", name,
                                 before.bytes, size - before.last),
                     name + " before its start", before.bytes});
  }
  const Damage after = damage(guards.after, poison, guards.end);
  if (after.bytes > 0) {
    found.push_back({"write_out_of_bounds",
                     fmt::format("'{}' was written past its end: {} bytes, the nearest at end+{}", name,
                                 after.bytes, after.first),
                     name + " past its end", after.bytes});
  }
}

void add_findings(std::vector<Finding>& found, const std::vector<Finding>& more) {
  for (const Finding& finding : more) {
    const auto is_same = [&](const Finding& other) {
      return other.metric == finding.metric && other.memory == finding.memory &&
             (!finding.memory.empty() || other.reason == finding.reason);
    };
    const auto known = std::ranges::find_if(found, is_same);
    if (known == found.end()) {
      found.push_back(finding);
    } else if (finding.bytes > known->bytes) {
      *known = finding;
    }
  }
}

PackedInput PackedInputs::get(std::size_t index, const Physical& physical, Poison poison) {
  const HostTensor& input = inputs_[index];
  if (lies_as_it_is(input, physical)) return {input.bytes(), nullptr};
  const Poison seen = has_padding(physical) ? poison : Poison::A;
  std::weak_ptr<const ByteBuffer>& known = packed_[{index, physical.form(), seen}];
  if (auto bytes = known.lock()) return {*bytes, bytes};
  // Not make_shared: with it the weak_ptr above would keep the bytes allocated.
  const std::shared_ptr<ByteBuffer> bytes(new ByteBuffer(static_cast<std::size_t>(physical.bytes())));
  pack_into(*bytes, input, physical, poison);
  known = bytes;
  return {*bytes, bytes};
}

Originals::Originals(gpu::Device& device, gpu::DeviceMemory& memory, const Case& test_case,
                     PackedInputs& inputs)
    : memory_(&memory),
      case_(&test_case),
      packed_(&inputs),
      inputs_(resources_of(test_case, true)),
      outputs_(resources_of(test_case, false)),
      updated_(updated_in(test_case)),
      tensors_(device, Program{}, physical_tensors(test_case), 0) {}

/// Uploads the inputs again; those without padding stay unchanged.
void Originals::upload(Poison padding) {
  const std::vector<Physical> physical = physical_tensors(*case_);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Physical& form = physical[inputs_[i].index];
    if (padding_ && !has_padding(form)) continue;
    tensors_.write(inputs_[i], packed_->get(i, form, poison_of(padding, inputs_[i])).bytes);
  }
  padding_ = padding;
}

void Originals::lay_out(gpu::Workspace& workspace, const Program& program, const Poisons& poisons) {
  const Poison wanted = poisons.padding.value_or(padding_.value_or(Poison::A));
  if (padding_ != wanted) upload(wanted);
  memory_->copy(tensors_, workspace, inputs_);
  std::vector<gpu::DeviceMemory::Fill> fills;
  for (const Resource input : inputs_) {
    fills.push_back({.resource = input, .guards = poison_of(poisons.guards, input)});
  }
  for (const Resource output : outputs_) {
    fills.push_back({output, poison_of(poisons.outputs, output), poison_of(poisons.guards, output)});
  }
  for (const Resource scratch : scratch_with_memory(program)) {
    const Poison own = poison_of(poisons.outputs, scratch);
    fills.push_back({scratch, own, own});
  }
  memory_->poison(workspace, fills);
  begin_updated(workspace);
}

void Originals::poison(gpu::Workspace& workspace, std::span<const Resource> resources, Poison poison) {
  std::vector<gpu::DeviceMemory::Fill> fills;
  for (const Resource one : resources) {
    const Poison own = poison_of(poison, one);
    fills.push_back({one, own, own});
  }
  memory_->poison(workspace, fills);
}

void Originals::poison_outputs(gpu::Workspace& workspace, Poison poison) {
  this->poison(workspace, outputs_, poison);
  begin_updated(workspace);
}

void Originals::begin_updated(gpu::Workspace& workspace) {
  if (!updated_.empty()) memory_->copy(tensors_, workspace, updated_);
}

bool Originals::inputs_are_whole(const gpu::Workspace& workspace) {
  return memory_->same(tensors_, workspace, inputs_);
}

Answer Originals::recognize(const gpu::Workspace& workspace) {
  if (!answer_ || !memory_->same(tensors_, workspace, outputs_)) return nullptr;
  return answer_;
}

bool Originals::recognizes_all(std::span<const gpu::Workspace* const> workspaces) {
  return memory_->same(tensors_, workspaces, outputs_);
}

void Originals::keep(const gpu::Workspace& workspace, Answer answer) {
  memory_->copy(workspace, tensors_, outputs_);
  answer_ = std::move(answer);
}

}  // namespace assay
