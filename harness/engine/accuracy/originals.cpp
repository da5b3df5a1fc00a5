#include "harness/engine/accuracy/originals.h"

#include "harness/engine/accuracy/guards.h"

#include <utility>

namespace assay {
namespace {

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

void Originals::poison_outputs(gpu::Workspace& workspace, Poison poison) {
  std::vector<gpu::DeviceMemory::Fill> fills;
  for (const Resource output : outputs_) {
    const Poison own = poison_of(poison, output);
    fills.push_back({output, own, own});
  }
  memory_->poison(workspace, fills);
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
