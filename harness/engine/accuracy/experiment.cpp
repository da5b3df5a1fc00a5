#include "harness/engine/accuracy/experiment.h"

#include "harness/base/parallel.h"
#include "harness/engine/accuracy/experiment_memory.h"
#include "harness/op/op.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay {
namespace {

Resource resource_of(std::size_t tensor) {
  return Resource::tensor(static_cast<std::uint32_t>(tensor));
}

/// The data between the guards of an allocation.
std::span<const std::byte> data_of(std::span<const std::byte> allocation, std::size_t guard) {
  return allocation.subspan(guard, allocation.size() - 2 * guard);
}

Guards guards_of(std::span<const std::byte> allocation, std::size_t guard) {
  return {allocation.first(guard), allocation.last(guard), allocation.size() - guard};
}

/// The first byte in which two spans of equal length differ.
std::optional<std::size_t> first_difference(std::span<const std::byte> a, std::span<const std::byte> b) {
  if (equal_bytes(a, b)) return std::nullopt;
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
}

/// A program reads its inputs and writes its outputs; what it updates in place it may read, too, unless it
/// only writes a part of it.
std::vector<gpu::TensorAccess> access_of(const Case& test_case) {
  std::vector<gpu::TensorAccess> access;
  for (const TensorSpec& spec : test_case.tensors) {
    const bool is_read_too = spec.starts_as && !spec.written_in_part;
    access.push_back(is_read_too       ? gpu::TensorAccess::Any
                     : spec.is_input() ? gpu::TensorAccess::Read
                                       : gpu::TensorAccess::Write);
  }
  return access;
}

}  // namespace

Experiment::Experiment(gpu::Device& device, gpu::ShaderLibrary& shaders, const Case& test_case,
                       const Program& program, PackedInputs& inputs, std::unique_ptr<Originals> originals)
    : device_(&device),
      shaders_(&shaders),
      case_(&test_case),
      program_(&program),
      inputs_(&inputs),
      physical_(physical_tensors(test_case)),
      originals_(std::move(originals)),
      executable_(device, shaders, program, physical_, gpu::guard_bytes, access_of(test_case)) {
  executable_.set_label(test_case.id);
}

void Experiment::prepare(gpu::Device& device, gpu::ShaderLibrary& shaders, const Case& test_case,
                         const Program& program) {
  gpu::prepare_executable(device, shaders, program, physical_tensors(test_case), gpu::guard_bytes,
                          access_of(test_case));
}

void Experiment::release() {
  workspace_.reset();
  uploaded_.clear();
}

PackedInput Experiment::packed(std::size_t tensor, Poison padding) const {
  const auto before = case_->tensors.begin() + static_cast<std::ptrdiff_t>(tensor);
  const auto input =
      std::count_if(case_->tensors.begin(), before, [](const TensorSpec& spec) { return spec.is_input(); });
  return inputs_->get(static_cast<std::size_t>(input), physical_[tensor],
                      poison_of(padding, resource_of(tensor)));
}

void Experiment::pack_inputs(Poison padding) {
  if (!uploaded_.empty() && uploaded_padding_ == padding) return;
  uploaded_.clear();  // freed before others are packed, so that both are never in memory
  uploaded_padding_ = padding;
  for (std::size_t i = 0; i < physical_.size(); ++i) {
    uploaded_.push_back(case_->tensors[i].is_input() ? packed(i, padding) : PackedInput{});
  }
}

ByteBuffer Experiment::with_guards(std::size_t tensor, Poison guards) const {
  const std::span<const std::byte> data = uploaded_[tensor].bytes;
  const std::size_t around = guard(tensor);
  ByteBuffer bytes(data.size() + 2 * around);
  const std::span all(bytes);
  const Poison own = poison_of(guards, resource_of(tensor));
  fill_poison(all.first(around), own);
  std::copy(data.begin(), data.end(), all.begin() + static_cast<std::ptrdiff_t>(around));
  fill_poison(all.last(around), own, around + data.size());
  return bytes;
}

ByteBuffer Experiment::poisoned_output(std::size_t tensor, Poison guards, Poison outputs) const {
  const auto data_bytes = static_cast<std::size_t>(physical_[tensor].bytes());
  const std::size_t around = guard(tensor);
  ByteBuffer bytes(data_bytes + 2 * around);
  fill_poison(bytes, poison_of(outputs, resource_of(tensor)));
  const std::span all(bytes);
  const Poison own = poison_of(guards, resource_of(tensor));
  fill_poison(all.first(around), own);
  fill_poison(all.last(around), own, around + data_bytes);
  if (const auto input = case_->tensors[tensor].starts_as) {
    const std::span<const std::byte> data = uploaded_[*input].bytes;
    std::copy(data.begin(), data.end(), all.begin() + static_cast<std::ptrdiff_t>(around));
  }
  return bytes;
}

void Experiment::fill(gpu::Workspace& workspace, const Poisons& poisons) {
  if (originals_) {
    originals_->lay_out(workspace, *program_, poisons);
  } else {
    fill_by_host(workspace, poisons);
  }
  fill_with_zeros(workspace, poisons);
}

void Experiment::fill_with_zeros(gpu::Workspace& workspace, const Poisons& poisons) {
  for (const Resource scratch : zero_scratch(*program_)) {
    const std::size_t around = gpu::guard_of(program_->scratch[scratch.index].form, gpu::guard_bytes);
    ByteBuffer bytes(workspace.size(scratch));
    fill_poison(bytes, poison_of(poisons.outputs, scratch));
    std::ranges::fill(std::span(bytes).subspan(around, bytes.size() - 2 * around), std::byte{0});
    workspace.write(scratch, bytes);
  }
}

void Experiment::fill_by_host(gpu::Workspace& workspace, const Poisons& poisons) {
  pack_inputs(poisons.padding.value_or(Poison::A));
  for (std::size_t i = 0; i < physical_.size(); ++i) {
    if (!case_->tensors[i].is_input()) {
      workspace.write(resource_of(i), poisoned_output(i, poisons.guards, poisons.outputs));
    } else if (guard(i) == 0) {
      workspace.write(resource_of(i), uploaded_[i].bytes);
    } else {
      workspace.write(resource_of(i), with_guards(i, poisons.guards));
    }
  }
  poison_by_host(workspace, scratch_with_memory(*program_), poisons.outputs);
}

void Experiment::poison_by_host(gpu::Workspace& workspace, std::span<const Resource> scratch, Poison poison) {
  for (const Resource one : scratch) {
    ByteBuffer bytes(workspace.size(one));
    fill_poison(bytes, poison_of(poison, one));
    workspace.write(one, bytes);
  }
}

/// Checks a tensor's guards and inputs; returns the values of an output, nothing for an input.
HostTensor Experiment::inspect(std::size_t tensor, Poison guards, RunResult& seen) const {
  const TensorSpec& spec = case_->tensors[tensor];
  ByteBuffer bytes(workspace_->size(resource_of(tensor)));
  workspace_->read(resource_of(tensor), 0, bytes);
  check_guards(spec.name, guards_of(bytes, guard(tensor)), poison_of(guards, resource_of(tensor)),
               seen.findings);
  const auto data = data_of(bytes, guard(tensor));
  if (!spec.is_input()) return unpack(data, physical_[tensor]);
  check_input(tensor, data, seen.findings);
  return {};
}

void Experiment::check_input(std::size_t tensor, std::span<const std::byte> data,
                             std::vector<Finding>& found) const {
  if (const auto first = first_difference(data, uploaded_[tensor].bytes)) {
    found.push_back({"input_modified", fmt::format("input '{}' was overwritten, first at byte {} of its data",
                                                   case_->tensors[tensor].name, *first)});
  }
}

void Experiment::look_by_host(const Poisons& poisons, RunResult& seen) {
  pack_inputs(poisons.padding.value_or(Poison::A));
  auto answer = std::make_shared<std::vector<HostTensor>>();
  for (std::size_t i = 0; i < physical_.size(); ++i) {
    HostTensor output = inspect(i, poisons.guards, seen);
    if (!case_->tensors[i].is_input()) answer->push_back(std::move(output));
  }
  inspect_scratch(*workspace_, poisons.outputs, seen.findings);
  seen.outputs = std::move(answer);
}

void Experiment::look_on_device(const Poisons& poisons, RunResult& seen) {
  inspect_guards(*workspace_, poisons, seen.findings);
  seen.outputs = outputs_of(*workspace_);
}

std::string Experiment::name_of(Resource resource) const {
  return resource.kind == Resource::Kind::Tensor ? case_->tensors[resource.index].name
                                                 : "scratch " + program_->scratch[resource.index].name;
}

void Experiment::inspect_guards(const gpu::Workspace& workspace, const Poisons& poisons,
                                std::vector<Finding>& found) const {
  for (std::size_t i = 0; i < physical_.size(); ++i) {
    inspect_guards_of(workspace, resource_of(i), case_->forms[i], poisons.guards, found);
  }
  inspect_scratch(workspace, poisons.outputs, found);
}

void Experiment::inspect_zeros(std::vector<Finding>& found) const {
  for (const Resource scratch : zero_scratch(*program_)) {
    const Scratch& zeros = program_->scratch[scratch.index];
    const std::size_t around = gpu::guard_of(zeros.form, gpu::guard_bytes);
    ByteBuffer data(workspace_->size(scratch) - 2 * around);
    workspace_->read(scratch, around, data);
    const auto first = std::ranges::find_if(data, [](std::byte byte) { return byte != std::byte{0}; });
    if (first == data.end()) continue;
    found.push_back({"scratch_not_zero",
                     fmt::format("scratch '{}' must hold zeros when the program ends, because the next one "
                                 "begins with it, and does not, first at byte {}",
                                 zeros.name, first - data.begin())});
  }
}

void Experiment::inspect_guards_of(const gpu::Workspace& workspace, Resource resource, Form form,
                                   Poison poison, std::vector<Finding>& found) const {
  const std::size_t around = gpu::guard_of(form, gpu::guard_bytes);
  if (around == 0) return;
  const std::uint64_t end = workspace.size(resource) - around;
  ByteBuffer both(2 * around);
  const std::span bytes(both);
  workspace.read(resource, 0, bytes.first(around));
  workspace.read(resource, end, bytes.last(around));
  check_guards(name_of(resource), {bytes.first(around), bytes.last(around), end}, poison_of(poison, resource),
               found);
}

void Experiment::inspect_scratch(const gpu::Workspace& workspace, Poison outputs,
                                 std::vector<Finding>& found) const {
  for (const Resource scratch : scratch_with_memory(*program_))
    inspect_guards_of(workspace, scratch, program_->scratch[scratch.index].form, outputs, found);
}

std::vector<Resource> Experiment::resources() const {
  std::vector<Resource> all = scratch_with_memory(*program_);
  for (std::size_t i = 0; i < physical_.size(); ++i) all.push_back(resource_of(i));
  return all;
}

std::vector<Finding> Experiment::changes_in(const gpu::Workspace& workspace, Poison poison) {
  std::vector<Finding> found;
  inspect_guards(workspace, Poisons::all(poison), found);
  const std::vector<Finding> inputs = changed_inputs_in(workspace, poison);
  found.insert(found.end(), inputs.begin(), inputs.end());
  return found;
}

std::vector<Finding> Experiment::changed_inputs_in(const gpu::Workspace& workspace, Poison poison) {
  std::vector<Finding> found;
  if (originals_ && originals_->inputs_are_whole(workspace)) return found;
  pack_inputs(poison);
  for (std::size_t i = 0; i < physical_.size(); ++i) {
    if (!case_->tensors[i].is_input()) continue;
    ByteBuffer data(static_cast<std::size_t>(physical_[i].bytes()));
    workspace.read(resource_of(i), guard(i), data);
    check_input(i, data, found);
  }
  return found;
}

void Experiment::poison_outputs(gpu::Workspace& workspace, Poison poison) {
  if (originals_) return originals_->poison_outputs(workspace, poison);
  pack_inputs(poison);
  for (std::size_t i = 0; i < physical_.size(); ++i) {
    if (!case_->tensors[i].is_input()) workspace.write(resource_of(i), poisoned_output(i, poison, poison));
  }
}

void Experiment::poison_joined(gpu::Workspace& workspace, Poison poison) {
  if (zero_scratch(*program_).empty()) return;
  std::vector<Resource> written = written_when_timed();
  std::erase_if(written, [](Resource one) { return one.kind == Resource::Kind::Tensor; });
  if (originals_) return originals_->poison(workspace, written, poison);
  poison_by_host(workspace, written, poison);
}

RunResult Experiment::run(const Poisons& poisons, std::span<const gpu::Executable::Overwrite> overwrites) {
  return run_by(executable_, poisons, overwrites);
}

std::optional<RunResult> Experiment::run_with_other_variables(const Poisons& poisons) {
  if (!device_->poisons_variables()) return std::nullopt;
  const auto may_read_them = [&](const Dispatch& dispatch) {
    return gpu::may_read_uninitialized(shaders_->compile(dispatch).words);
  };
  if (std::ranges::none_of(program_->dispatches, may_read_them)) return std::nullopt;
  gpu::Executable other(*device_, *shaders_, *program_, physical_, gpu::guard_bytes, access_of(*case_),
                        gpu::Uninitialized::Other);
  other.set_label(case_->id);
  return run_by(other, poisons);
}

RunResult Experiment::run_by(gpu::Executable& executable, const Poisons& poisons,
                             std::span<const gpu::Executable::Overwrite> overwrites) {
  if (!workspace_) workspace_.emplace(empty_workspace());
  memory_bytes_ = workspace_->memory_bytes();
  fill(*workspace_, poisons);
  if (executable.uses_workgroup_memory()) gpu::poison_workgroup_memory(*device_, poisons.workgroup_memory);
  executable.run(*workspace_, case_->id, case_->timeout_s, overwrites);
  if (originals_ && !originals_->inputs_are_whole(*workspace_)) originals_.reset();
  RunResult seen;
  inspect_zeros(seen.findings);
  if (originals_) {
    look_on_device(poisons, seen);
  } else {
    look_by_host(poisons, seen);
  }
  return seen;
}

HostTensor Experiment::unwritten(std::size_t output, Poison poison) const {
  std::size_t tensor = 0;
  for (std::size_t seen = 0; tensor < case_->tensors->size(); ++tensor) {
    if (!case_->tensors[tensor].is_input() && seen++ == output) break;
  }
  ByteBuffer data(static_cast<std::size_t>(physical_[tensor].bytes()));
  fill_poison(data, poison_of(poison, resource_of(tensor)), guard(tensor));
  return unpack(data, physical_[tensor]);
}

gpu::Workspace Experiment::empty_workspace() {
  return workspace_of(nullptr);
}

gpu::Workspace Experiment::workspace_of(const gpu::Workspace* lender) {
  return with_room([&]() -> gpu::Workspace {
    if (lender == nullptr) return {*device_, *program_, physical_, gpu::guard_bytes};
    return {*device_, *program_, physical_, *lender, written_when_timed()};
  });
}

std::vector<gpu::Workspace> Experiment::empty_workspaces(std::size_t count) {
  return with_room(
      [&] { return gpu::Workspace::several(count, *device_, *program_, physical_, gpu::guard_bytes); });
}

std::vector<Resource> Experiment::written_when_timed() const {
  std::vector<Resource> written;
  for (std::size_t i = 0; i < physical_.size(); ++i) {
    if (!case_->tensors[i].is_input()) written.push_back(resource_of(i));
  }
  const std::vector<Resource> constant = constant_scratch(*program_);
  for (const Resource scratch : scratch_with_memory(*program_)) {
    if (std::ranges::find(constant, scratch) == constant.end()) written.push_back(scratch);
  }
  return written;
}

gpu::Workspace Experiment::fresh_workspace(Poison poison, const gpu::Workspace* lender) {
  gpu::Workspace workspace = workspace_of(lender);
  fill(workspace, Poisons::all(poison));
  executable_.setup(workspace, case_->timeout_s);
  return workspace;
}

HostTensor Experiment::read(const gpu::Workspace& workspace, std::size_t tensor) const {
  const Physical& physical = physical_[tensor];
  if (physical.is_contiguous() && !has_padding(physical)) {
    HostTensor output = HostTensor::uninitialized(physical.dtype(), physical.shape());
    workspace.read(resource_of(tensor), guard(tensor), output.bytes());
    return output;
  }
  ByteBuffer data(static_cast<std::size_t>(physical.bytes()));
  workspace.read(resource_of(tensor), guard(tensor), data);
  return unpack(data, physical);
}

Answer Experiment::outputs_of(const gpu::Workspace& workspace) {
  if (originals_) {
    if (Answer known = originals_->recognize(workspace)) return known;
  }
  auto outputs = std::make_shared<std::vector<HostTensor>>();
  for (std::size_t i = 0; i < physical_.size(); ++i) {
    if (!case_->tensors[i].is_input()) outputs->push_back(read(workspace, i));
  }
  if (originals_) originals_->keep(workspace, outputs);
  return outputs;
}

std::size_t Experiment::count_holding(std::span<const gpu::Workspace* const> sets, const Answer& answer) {
  const auto holds_it = [&](const gpu::Workspace* set) { return same_answer(outputs_of(*set), answer); };
  if (sets.empty() || !holds_it(sets.front())) return 0;
  if (originals_ && originals_->recognizes_all(sets.subspan(1))) return sets.size();
  const auto wrong = std::find_if_not(sets.begin() + 1, sets.end(), holds_it);
  return static_cast<std::size_t>(wrong - sets.begin());
}

}  // namespace assay
