#include "harness/engine/experiment.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

/// Bytes of `guard` that are not poison any more; `first_offset` is where the guard starts in its allocation.
struct Damage {
  std::int64_t bytes = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

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

/// What lies between the guards.
std::span<const std::byte> data_of(std::span<const std::byte> allocation, std::size_t guard) {
  return allocation.subspan(guard, allocation.size() - 2 * guard);
}

void check_guards(const std::string& name, std::span<const std::byte> allocation, std::uint32_t guard,
                  Poison poison, std::vector<Trespass>& found) {
  const Damage before = damage(allocation.first(guard), poison, 0);
  if (before.bytes > 0) {
    found.push_back({"write_out_of_bounds",
                     fmt::format("'{}' was written before its start: {} bytes, the nearest {} before", name,
                                 before.bytes, guard - before.last)});
  }
  const std::size_t end = allocation.size() - guard;
  const Damage after = damage(allocation.last(guard), poison, end);
  if (after.bytes > 0) {
    found.push_back(
        {"write_out_of_bounds", fmt::format("'{}' was written past its end: {} bytes, the nearest at end+{}",
                                            name, after.bytes, after.first)});
  }
}

}  // namespace

std::vector<Physical> physical_tensors(const Case& one) {
  std::vector<Physical> physical;
  for (std::size_t i = 0; i < one.tensors.size(); ++i) {
    physical.emplace_back(one.forms[i], one.tensors[i].dtype, one.tensors[i].shape);
  }
  return physical;
}

Experiment::Experiment(gpu::Device& device, gpu::ShaderLibrary& shaders, const Case& one,
                       const Program& program, PackedInputs& inputs, std::uint32_t guard)
    : device_(&device),
      case_(&one),
      program_(&program),
      inputs_(&inputs),
      guard_(guard),
      physical_(physical_tensors(one)),
      executable_(device, shaders, program, physical_, guard) {
  executable_.set_label(one.id);
}

void Experiment::release() {
  workspace_.reset();
  uploaded_.clear();
}

void Experiment::pack_inputs(Poison padding) {
  if (!uploaded_.empty() && uploaded_padding_ == padding) return;
  uploaded_.clear();  // before others are packed: never both in memory
  uploaded_padding_ = padding;
  std::size_t input = 0;
  for (std::size_t i = 0; i < physical_.size(); ++i) {
    const bool is_input = case_->tensors[i].is_input();
    uploaded_.push_back(is_input ? inputs_->get(input++, physical_[i], guard(i), padding) : nullptr);
  }
}

AllocationBytes Experiment::poisoned_output(std::size_t tensor, Poison padding, Poison outputs) const {
  const auto data_bytes = static_cast<std::size_t>(physical_[tensor].bytes());
  const std::size_t around = guard(tensor);
  AllocationBytes bytes(data_bytes + 2 * around);
  fill_poison(bytes, outputs);
  const std::span all(bytes);
  fill_poison(all.first(around), padding);
  fill_poison(all.last(around), padding, around + data_bytes);
  return bytes;
}

void Experiment::fill(gpu::Workspace& workspace, Poison padding, Poison outputs) {
  pack_inputs(padding);
  for (std::size_t i = 0; i < physical_.size(); ++i) {
    const Resource tensor = Resource::tensor(static_cast<std::uint32_t>(i));
    if (uploaded_[i]) {
      workspace.write(tensor, *uploaded_[i]);
    } else {
      workspace.write(tensor, poisoned_output(i, padding, outputs));
    }
  }
  for (std::uint32_t i = 0; i < program_->scratch.size(); ++i) {
    const Resource scratch = Resource::scratch(i);
    AllocationBytes bytes(workspace.size(scratch));
    fill_poison(bytes, outputs);
    workspace.write(scratch, bytes);
  }
}

void Experiment::inspect(std::size_t tensor, Poison padding, Observation& seen) const {
  const TensorSpec& spec = case_->tensors[tensor];
  const AllocationBytes bytes = workspace_->read(Resource::tensor(static_cast<std::uint32_t>(tensor)));
  check_guards(spec.name, bytes, guard(tensor), padding, seen.trespasses);
  const auto data = data_of(bytes, guard(tensor));
  if (!spec.is_input()) {
    seen.outputs.push_back(unpack(data, physical_[tensor]));
    return;
  }
  const auto uploaded = data_of(*uploaded_[tensor], guard(tensor));
  const auto [now, then] = std::mismatch(data.begin(), data.end(), uploaded.begin());
  if (now != data.end()) {
    seen.trespasses.push_back(
        {"input_modified", fmt::format("input '{}' was overwritten, first at byte {} of its data", spec.name,
                                       now - data.begin())});
  }
}

Observation Experiment::run(Poison padding, Poison outputs) {
  if (!workspace_) workspace_.emplace(*device_, *program_, physical_, guard_);
  memory_bytes_ = workspace_->memory_bytes();
  fill(*workspace_, padding, outputs);
  executable_.run(*workspace_, case_->id, case_->timeout_s);
  Observation seen;
  for (std::size_t i = 0; i < physical_.size(); ++i) inspect(i, padding, seen);
  for (std::uint32_t i = 0; i < program_->scratch.size() && guard_ > 0; ++i) {
    const Scratch& scratch = program_->scratch[i];
    check_guards("scratch " + scratch.name, workspace_->read(Resource::scratch(i)),
                 gpu::guard_of(scratch.form, guard_), outputs, seen.trespasses);
  }
  return seen;
}

HostTensor Experiment::unwritten(std::size_t output, Poison poison) const {
  std::size_t tensor = 0;
  for (std::size_t seen = 0; tensor < case_->tensors.size(); ++tensor) {
    if (!case_->tensors[tensor].is_input() && seen++ == output) break;
  }
  AllocationBytes data(static_cast<std::size_t>(physical_[tensor].bytes()));
  fill_poison(data, poison, guard(tensor));
  return unpack(data, physical_[tensor]);
}

gpu::Workspace Experiment::empty_workspace() {
  return {*device_, *program_, physical_, guard_};
}

std::vector<std::size_t> Experiment::output_tensors() const {
  std::vector<std::size_t> outputs;
  for (std::size_t i = 0; i < physical_.size(); ++i) {
    if (!case_->tensors[i].is_input()) outputs.push_back(i);
  }
  return outputs;
}

gpu::Workspace Experiment::fresh_workspace(Poison outputs) {
  gpu::Workspace workspace = empty_workspace();
  fill(workspace, Poison::A, outputs);
  executable_.setup(workspace, case_->timeout_s);
  return workspace;
}

std::vector<HostTensor> Experiment::read_outputs(const gpu::Workspace& workspace) const {
  std::vector<HostTensor> outputs;
  for (const std::size_t i : output_tensors()) {
    const AllocationBytes bytes = workspace.read(Resource::tensor(static_cast<std::uint32_t>(i)));
    outputs.push_back(unpack(data_of(bytes, guard(i)), physical_[i]));
  }
  return outputs;
}

}  // namespace assay
