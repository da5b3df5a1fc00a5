#include "harness/core/hash.h"
#include "harness/gpu/barrier.h"
#include "harness/gpu/limits.h"
#include "harness/gpu/recording.h"
#include "harness/gpu/submission.h"
#include "harness/gpu/timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace assay::gpu {

struct Executable::State {
  State(Device::State& owner, Program built, std::uint32_t guard_size)
      : device(owner), program(std::move(built)), guard(guard_size) {}

  void build(ShaderLibrary& shaders, std::span<const Physical> tensors);
  const Bindings& bind(const Workspace& workspace);
  Recordable recordable() const { return {device.table, program, pipelines}; }
  std::size_t timed_dispatches() const;
  void run(Workspace& workspace, Part part, std::string_view label, double timeout_s);
  void record_batch(Submission& submission, const Bindings& sets, int programs, Spacing spacing) const;

  Device::State& device;
  const Program program;
  const std::uint32_t guard;
  std::vector<Pipeline> pipelines;  ///< one a dispatch
  BindingsCache bindings;
  double compile_ms = 0;
  std::string spirv_hash;
  std::string label = "program";
};

void Executable::State::build(ShaderLibrary& shaders, std::span<const Physical> tensors) {
  if (const auto reason = beyond_limits(program, tensors, device.info())) {
    throw Error(fmt::format("preparing a program for '{}': {}", device.info().name, *reason));
  }
  device.require_alive("preparing a program");
  const auto start = std::chrono::steady_clock::now();
  std::string hashes;
  for (const Dispatch& dispatch : program.dispatches) {
    const Spirv& spirv = shaders.compile(dispatch.shader, dispatch.defines);
    hashes += spirv.hash;
    std::vector<VkDescriptorType> types;
    for (const Resource& resource : dispatch.bindings) {
      types.push_back(descriptor_type(form_of(program, tensors, resource)));
    }
    pipelines.push_back(create_pipeline(device, dispatch, std::move(types), spirv, guard));
  }
  spirv_hash = hash_hex(hashes);
  compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

const Bindings& Executable::State::bind(const Workspace& workspace) {
  const Workspace::State& state = workspace.state();
  if (state.guard != guard) {
    throw std::logic_error(fmt::format(
        "a workspace with guards of {} bytes cannot run a program built for {}", state.guard, guard));
  }
  if (&state.device != &device) {
    throw std::logic_error("a workspace cannot run on another device than its own");
  }
  return bindings.get(device.table, program, pipelines, state);
}

std::size_t Executable::State::timed_dispatches() const {
  return static_cast<std::size_t>(
      std::count_if(program.dispatches.begin(), program.dispatches.end(),
                    [](const Dispatch& dispatch) { return belongs(dispatch.role, Part::Timed); }));
}

void Executable::State::run(Workspace& workspace, Part part, std::string_view label, double timeout_s) {
  const Bindings& sets = bind(workspace);
  Submission submission(device, fmt::format("running {}", label), label);
  barrier(device.table, submission.commands(), Scope::Anything, Scope::Compute);
  recordable().record(submission.commands(), sets, part);
  barrier(device.table, submission.commands(), Scope::Compute, Scope::TransferAndHost);
  submission.submit_and_wait(timeout_s);
}

/// `programs` runs of the timed part. What follows the last is the caller's business.
void Executable::State::record_batch(Submission& submission, const Bindings& sets, int programs,
                                     Spacing spacing) const {
  for (int i = 0; i < programs; ++i) {
    if (i > 0 && spacing == Spacing::Barrier) {
      barrier(device.table, submission.commands(), Scope::Compute, Scope::Compute);
    }
    recordable().record(submission.commands(), sets, Part::Timed);
  }
}

Executable::Executable(Device& device, ShaderLibrary& shaders, const Program& program,
                       std::span<const Physical> tensors, std::uint32_t guard)
    : state_(std::make_unique<State>(device.state(), program, guard)) {
  state_->build(shaders, tensors);
}
Executable::~Executable() = default;
Executable::Executable(Executable&&) noexcept = default;
Executable& Executable::operator=(Executable&&) noexcept = default;

const Program& Executable::program() const {
  return state_->program;
}

double Executable::compile_ms() const {
  return state_->compile_ms;
}

std::string Executable::spirv_hash() const {
  return state_->spirv_hash;
}

void Executable::set_label(std::string label) {
  state_->label = std::move(label);
}

void Executable::run(Workspace& workspace, std::string_view label, double timeout_s) {
  state_->run(workspace, Part::All, label, timeout_s);
}

void Executable::setup(Workspace& workspace, double timeout_s) {
  state_->run(workspace, Part::Setup, state_->label + ": setup", timeout_s);
}

Timing Executable::time(Workspace& workspace, const TimedRun& run, double timeout_s) {
  const Bindings& sets = state_->bind(workspace);
  Device::State& device = state_->device;
  std::optional<Stamps> stamps;
  if (Stamps::available(device)) {
    stamps.emplace(device, 2);
  }
  Submission submission(device, fmt::format("timing a batch of {} of {}", run.batch, state_->label),
                        state_->label + ": timed batch");
  const VkCommandBuffer commands = submission.commands();
  if (stamps) {
    stamps->reset(commands);
  }
  barrier(device.table, commands, Scope::Anything, Scope::Compute);
  state_->record_batch(submission, sets, run.warm, Spacing::Barrier);
  barrier(device.table, commands, Scope::Compute, Scope::Compute);
  if (stamps) {
    stamps->stamp(commands);
  }
  state_->record_batch(submission, sets, run.batch, run.spacing);
  barrier(device.table, commands, Scope::Compute, Scope::Compute);
  if (stamps) {
    stamps->stamp(commands);
  }
  barrier(device.table, commands, Scope::Compute, Scope::TransferAndHost);
  Timing timing;
  timing.wall_ns = submission.submit_and_wait(timeout_s);
  if (stamps) {
    timing.gpu_ns = stamps->steps_ns().front();
  }
  return timing;
}

std::vector<double> Executable::dispatch_ns(Workspace& workspace, double timeout_s) {
  const Bindings& sets = state_->bind(workspace);
  Device::State& device = state_->device;
  if (!Stamps::available(device)) {
    return {};
  }
  Stamps stamps(device, static_cast<std::uint32_t>(state_->timed_dispatches()) + 1);
  Submission submission(device, "timing each dispatch of " + state_->label, state_->label + ": stamped pass");
  const VkCommandBuffer commands = submission.commands();
  stamps.reset(commands);
  barrier(device.table, commands, Scope::Anything, Scope::Compute);
  state_->record_batch(submission, sets, 1, Spacing::Barrier);  // warm-up
  barrier(device.table, commands, Scope::Compute, Scope::Compute);
  stamps.stamp(commands);
  state_->recordable().record(commands, sets, Part::Timed, [&] { stamps.stamp(commands); });
  barrier(device.table, commands, Scope::Compute, Scope::TransferAndHost);
  submission.submit_and_wait(timeout_s);
  return stamps.steps_ns();
}

}  // namespace assay::gpu
