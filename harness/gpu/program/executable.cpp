#include "harness/base/hash.h"
#include "harness/gpu/commands/submission.h"
#include "harness/gpu/device/limits.h"
#include "harness/gpu/program/bindings.h"
#include "harness/gpu/program/external_call.h"
#include "harness/gpu/program/interface_check.h"
#include "harness/gpu/program/pipeline.h"
#include "harness/gpu/program/program_hash.h"
#include "harness/gpu/spirv/late_use.h"
#include "harness/gpu/spirv/spirv_instructions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <stdexcept>

namespace assay::gpu {

namespace {

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// Cycles through the workspaces of a batch.
struct Rotation {
  std::vector<const Bindings*> sets;
  std::size_t next = 0;

  const Bindings& take() { return *sets[next++ % sets.size()]; }
};

void refuse_beyond_limits(const Device::State& device, const Program& program,
                          std::span<const Physical> tensors) {
  if (const auto reason = beyond_limits(program, tensors, device.info())) {
    throw Error(fmt::format("preparing a program for '{}': {}", device.info().name, *reason));
  }
  device.require_alive("preparing a program");
}

/// The parts of an executable.
struct Made {
  Program program;                                  ///< without external calls
  std::vector<SharedPipeline> pipelines;            ///< one a dispatch
  std::vector<std::vector<UniformBlock>> uniforms;  ///< of each dispatch
  double compile_ms = 0;
  std::string spirv_hash;
  std::string guardless_shader;
  bool uses_workgroup_memory = false;
  std::string matrix_extension;
  std::string driver_retry;
};

/// A dispatch's module: the library's, or for an external call one made from it.
struct Compiled {
  const Spirv* shared = nullptr;
  std::optional<Spirv> own;
  std::vector<UniformBlock> uniforms;

  const Spirv& spirv() const { return own ? *own : *shared; }
};

/// Resolves the dispatch's external call, if it is one.
Compiled resolve(Dispatch& dispatch, const Spirv& spirv, const DeviceInfo& info) {
  if (!dispatch.external) return {.shared = &spirv, .own = std::nullopt, .uniforms = {}};
  ResolvedCall call = resolved_call(dispatch, spirv, info);
  dispatch = std::move(call.dispatch);
  return {.shared = nullptr, .own = std::move(call.spirv), .uniforms = std::move(call.uniforms)};
}

bool binds_buffer(const Dispatch& dispatch, const Program& program, std::span<const Physical> tensors) {
  return std::ranges::any_of(dispatch.bindings, [&](const Binding& binding) {
    return form_of(program, tensors, binding.resource).storage == Storage::Buffer;
  });
}

/// Kernels of our own ask for features before they are compiled; those in a folder of shaders may use more.
void refuse_unmet_needs(const Program& program, std::span<const Compiled> compiled,
                        std::span<const ShaderInterface> interfaces, const DeviceInfo& info) {
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    if (const auto need = unmet_need(compiled[i].spirv().words, interfaces[i], info))
      throw Unsupported(fmt::format("dispatch '{}' needs {}", program.dispatches[i].label, *need));
  }
}

std::string matrix_extension_of(std::span<const ShaderInterface> interfaces) {
  for (const ShaderInterface& one : interfaces) {
    for (const std::uint32_t capability : one.capabilities) {
      if (capability == capability_cooperative_matrix_khr) return "KHR";
      if (capability == spv::CapabilityCooperativeMatrixNV) return "NV";
    }
  }
  return "";
}

/// Reports no phase, so that any thread may call it, unless `asks_again` does (PipelineCache::get()).
Made make_pipelines(Device::State& device, ShaderLibrary& shaders, const Program& program,
                    std::span<const Physical> tensors, std::uint32_t guard,
                    std::span<const TensorAccess> access, Uninitialized uninitialized = Uninitialized::Usual,
                    const std::function<void()>& asks_again = {}) {
  const auto start = std::chrono::steady_clock::now();
  PipelineCache& shared = pipelines_of(device);
  std::vector<ShaderInterface> interfaces;
  std::vector<Compiled> compiled;
  Made made{.program = program};
  std::string hashes;
  for (Dispatch& dispatch : made.program.dispatches) {
    const Spirv& spirv = shaders.compile(dispatch);
    hashes += spirv.hash;
    compiled.push_back(resolve(dispatch, spirv, device.info()));
    made.uniforms.push_back(std::move(compiled.back().uniforms));
    interfaces.push_back(*shared.interface(dispatch, compiled.back().spirv(), guard));
    if (!dispatch.external && !interfaces.back().knows_guards && binds_buffer(dispatch, program, tensors))
      made.guardless_shader = dispatch.shader;
  }
  made.matrix_extension = matrix_extension_of(interfaces);
  made.uses_workgroup_memory =
      std::ranges::any_of(interfaces, [](const ShaderInterface& one) { return one.shared_bytes > 0; });
  // What an external call needs is known only now.
  if (const auto reason = beyond_limits(made.program, tensors, device.info())) throw Unsupported(*reason);
  check_interfaces(made.program, tensors, interfaces, device.info(), access,
                   [&](std::size_t dispatch, const KeptBindings& kept) {
                     return late_use_of_inputs(compiled[dispatch].spirv().words, kept);
                   });
  refuse_unmet_needs(made.program, compiled, interfaces, device.info());
  made.compile_ms = milliseconds_since(start);
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    const Dispatch& dispatch = made.program.dispatches[i];
    std::vector<VkDescriptorType> types;
    for (const Binding& binding : dispatch.bindings) {
      types.push_back(descriptor_type(form_of(program, tensors, binding.resource), binding.access));
    }
    types.insert(types.end(), made.uniforms[i].size(), VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER);
    made.pipelines.push_back(
        shared.get(dispatch, std::move(types), compiled[i].spirv(), guard, asks_again, uninitialized));
    if (made.driver_retry.empty()) made.driver_retry = made.pipelines.back()->driver_retry;
    made.compile_ms +=
        made.pipelines.back()->creation_ms;  // even if the pipeline was created for another program
  }
  made.spirv_hash = source_hash(hashes);
  return made;
}

}  // namespace

struct Executable::State {
  State(Device::State& owner, Program built, std::span<const Physical> physicals, std::uint32_t guard_size)
      : device(owner),
        program(std::move(built)),
        tensors(physicals.begin(), physicals.end()),
        guard(guard_size) {}

  void build(ShaderLibrary& shaders, std::span<const TensorAccess> access, Uninitialized uninitialized);
  std::vector<const Bindings*> bind(std::span<Workspace* const> workspaces);
  const Bindings& bind(Workspace& workspace);
  Recordable recordable() const { return {device.table, program, pipelines}; }
  std::size_t timed_dispatches() const;
  void run(Workspace& workspace, Part part, std::string_view label, double timeout_s,
           std::span<const Overwrite> overwrites = {});
  void record_overwrites(VkCommandBuffer commands, const Workspace::State& workspace,
                         std::span<const Overwrite> overwrites, std::size_t before) const;
  void refuse_stranger(const Workspace::State& workspace) const;
  void record_batch(Submission& submission, Rotation& sets, int programs, Spacing spacing) const;

  Device::State& device;
  Program program;
  const std::vector<Physical> tensors;
  const std::uint32_t guard;
  std::vector<SharedPipeline> pipelines;  ///< one a dispatch
  UniformBuffers uniforms;
  BindingsCache bindings;
  double compile_ms = 0;
  std::string spirv_hash;
  std::string guardless_shader;
  bool uses_workgroup_memory = false;
  std::string matrix_extension;
  std::string driver_retry;
  std::string label = "program";
};

void Executable::State::build(ShaderLibrary& shaders, std::span<const TensorAccess> access,
                              Uninitialized uninitialized) {
  refuse_beyond_limits(device, program, tensors);
  const PhaseScope phase(device, Phase::Compile);
  Made made =
      make_pipelines(device, shaders, program, tensors, guard, access, uninitialized, [&] { phase.again(); });
  program = std::move(made.program);
  pipelines = std::move(made.pipelines);
  uniforms = UniformBuffers(device, made.uniforms);
  compile_ms = made.compile_ms;
  spirv_hash = std::move(made.spirv_hash);
  guardless_shader = std::move(made.guardless_shader);
  uses_workgroup_memory = made.uses_workgroup_memory;
  matrix_extension = std::move(made.matrix_extension);
  driver_retry = std::move(made.driver_retry);
}

void prepare_executable(Device& device, ShaderLibrary& shaders, const Program& program,
                        std::span<const Physical> tensors, std::uint32_t guard,
                        std::span<const TensorAccess> access) {
  refuse_beyond_limits(device.state(), program, tensors);
  make_pipelines(device.state(), shaders, program, tensors, guard, access);
}

void Executable::State::refuse_stranger(const Workspace::State& workspace) const {
  if (workspace.guard != guard) {
    throw std::logic_error(fmt::format(
        "a workspace with guards of {} bytes cannot run a program built for {}", workspace.guard, guard));
  }
  if (&workspace.device != &device) {
    throw std::logic_error("a workspace cannot run on another device than its own");
  }
}

std::vector<const Bindings*> Executable::State::bind(std::span<Workspace* const> workspaces) {
  if (workspaces.empty()) {
    throw std::logic_error("a program needs a workspace to run over");
  }
  std::vector<const Workspace::State*> states;
  for (const Workspace* workspace : workspaces) {
    refuse_stranger(workspace->state());
    states.push_back(&workspace->state());
  }
  return bindings.get(device.table, program, pipelines, uniforms, states);
}

const Bindings& Executable::State::bind(Workspace& workspace) {
  Workspace* const one = &workspace;
  return *bind({&one, 1}).front();
}

std::size_t Executable::State::timed_dispatches() const {
  return static_cast<std::size_t>(
      std::count_if(program.dispatches.begin(), program.dispatches.end(),
                    [](const Dispatch& dispatch) { return belongs(dispatch.role, Part::Timed); }));
}

/// Records those before that dispatch. The caller records a compute barrier before them.
void Executable::State::record_overwrites(VkCommandBuffer commands, const Workspace::State& workspace,
                                          std::span<const Overwrite> overwrites, std::size_t before) const {
  if (std::ranges::find(overwrites, before, &Overwrite::before) == overwrites.end()) return;
  barrier(device.table, commands, Scope::Compute, Scope::Transfer);
  for (const Overwrite& one : overwrites) {
    // Two of them may fill the same memory.
    if (one.before != before) continue;
    workspace.record_fill(commands, one.resource, one.word);
    barrier(device.table, commands, Scope::Transfer, Scope::Transfer);
  }
  barrier(device.table, commands, Scope::Transfer, Scope::Compute);
}

/// `overwrites`: for Part::All, where dispatches are recorded in the program's order.
void Executable::State::run(Workspace& workspace, Part part, std::string_view label, double timeout_s,
                            std::span<const Overwrite> overwrites) {
  const Bindings& sets = bind(workspace);
  Submission submission(device, fmt::format("running {}", label), label);
  const VkCommandBuffer commands = submission.commands();
  std::size_t next = 0;
  std::function<void()> overwrite;
  if (!overwrites.empty())
    overwrite = [&] { record_overwrites(commands, workspace.state(), overwrites, next++); };
  barrier(device.table, commands, Scope::Anything, Scope::Compute);
  if (overwrite) overwrite();
  recordable().record(commands, sets, part, overwrite);
  barrier(device.table, commands, Scope::Compute, Scope::TransferAndHost);
  submission.submit_and_wait(timeout_s);
}

/// Records `programs` runs of the timed part. The caller records the barrier after the last one.
void Executable::State::record_batch(Submission& submission, Rotation& sets, int programs,
                                     Spacing spacing) const {
  for (int i = 0; i < programs; ++i) {
    if (i > 0 && spacing == Spacing::Barrier) {
      barrier(device.table, submission.commands(), Scope::Compute, Scope::Compute);
    }
    recordable().record(submission.commands(), sets.take(), Part::Timed);
  }
}

Executable::Executable(Device& device, ShaderLibrary& shaders, const Program& program,
                       std::span<const Physical> tensors, std::uint32_t guard,
                       std::span<const TensorAccess> access, Uninitialized uninitialized)
    : state_(std::make_unique<State>(device.state(), program, tensors, guard)) {
  state_->build(shaders, access, uninitialized);
}
Executable::~Executable() = default;
Executable::Executable(Executable&&) noexcept = default;
Executable& Executable::operator=(Executable&&) noexcept = default;

const std::string& Executable::matrix_extension() const {
  return state_->matrix_extension;
}

const std::string& Executable::driver_retry() const {
  return state_->driver_retry;
}

bool Executable::uses_workgroup_memory() const {
  return state_->uses_workgroup_memory;
}

const std::string& Executable::guardless_shader() const {
  return state_->guardless_shader;
}

const Program& Executable::program() const {
  return state_->program;
}

double Executable::compile_ms() const {
  return state_->compile_ms;
}

std::string Executable::spirv_hash() const {
  return state_->spirv_hash;
}

ExecutableStatistics Executable::statistics() const {
  ExecutableStatistics all;
  for (std::size_t i = 0; i < state_->pipelines.size(); ++i) {
    const Dispatch& dispatch = state_->program.dispatches[i];
    if (belongs(dispatch.role, Part::Timed)) {
      add_statistics(all, statistics_of(state_->device, dispatch, *state_->pipelines[i]));
    }
  }
  return all;
}

std::string Executable::program_hash(const Workspace& workspace) const {
  const Workspace::State& memory = workspace.state();
  state_->refuse_stranger(memory);
  std::vector<std::string> spirv;
  for (const SharedPipeline& pipeline : state_->pipelines) {
    const std::string& modes = pipeline->float_modes;
    spirv.push_back(modes.empty() ? pipeline->spirv_hash : pipeline->spirv_hash + ", " + modes);
  }
  return gpu::program_hash({.program = state_->program,
                            .spirv = spirv,
                            .tensors = state_->tensors,
                            .guard = state_->guard,
                            .memory = [&](Resource resource) { return memory.memory_of(resource); }});
}

void Executable::vary(std::size_t index, const std::array<std::uint32_t, 3>& workgroups,
                      const PushConstants& push) {
  Dispatch& dispatch = state_->program.dispatches.at(index);
  if (push.words().size() != dispatch.push.words().size()) {
    throw std::logic_error(fmt::format("dispatch '{}' pushes {} words, not {}", dispatch.label,
                                       dispatch.push.words().size(), push.words().size()));
  }
  dispatch.workgroups = workgroups;
  dispatch.push = push;
}

void Executable::set_label(std::string label) {
  state_->label = std::move(label);
}

void Executable::run(Workspace& workspace, std::string_view label, double timeout_s,
                     std::span<const Overwrite> overwrites) {
  state_->run(workspace, Part::All, label, timeout_s, overwrites);
}

void Executable::setup(Workspace& workspace, double timeout_s) {
  state_->run(workspace, Part::Setup, state_->label + ": setup", timeout_s);
}

double Executable::setup_ns(Workspace& workspace, double timeout_s) {
  const bool has_setup = std::ranges::any_of(state_->program.dispatches, [](const Dispatch& dispatch) {
    return belongs(dispatch.role, Part::Setup);
  });
  if (!has_setup) {
    return 0;
  }
  const Bindings& sets = state_->bind(workspace);
  Device::State& device = state_->device;
  std::optional<Stamps> stamps;
  if (Stamps::available(device)) {
    stamps.emplace(device, 2);
  }
  Submission submission(device, "timing the set-up of " + state_->label, state_->label + ": timed set-up");
  const VkCommandBuffer commands = submission.commands();
  if (stamps) {
    stamps->reset(commands);
  }
  barrier(device.table, commands, Scope::Anything, Scope::Compute);
  if (stamps) {
    stamps->stamp(commands);
  }
  state_->recordable().record(commands, sets, Part::Setup);
  barrier(device.table, commands, Scope::Compute, Scope::Compute);
  if (stamps) {
    stamps->stamp(commands);
  }
  barrier(device.table, commands, Scope::Compute, Scope::TransferAndHost);
  const double wall_ns = submission.submit_and_wait(timeout_s);
  return stamps ? stamps->steps_ns().front() : wall_ns;
}

Timing Executable::time(Workspace& workspace, const TimedRun& run, double timeout_s) {
  Workspace* const one = &workspace;
  return time({&one, 1}, run, timeout_s);
}

Timing Executable::time(std::span<Workspace* const> workspaces, const TimedRun& run, double timeout_s) {
  return TimedBatch(*this, workspaces, run).submit(timeout_s);
}

std::optional<double> Executable::isolated_ns(Workspace& workspace, const Isolated& how, double timeout_s) {
  Device::State& device = state_->device;
  if (!Stamps::available(device)) {
    return std::nullopt;
  }
  const std::array both{how.before, &workspace};
  const std::vector<const Bindings*> sets = state_->bind(both);
  Stamps stamps(device, 2);
  Submission submission(device, "timing one program of " + state_->label, state_->label + ": by itself");
  const VkCommandBuffer commands = submission.commands();
  stamps.reset(commands);
  barrier(device.table, commands, Scope::Anything, Scope::Compute);
  Rotation before{.sets = {sets.front()}};
  state_->record_batch(submission, before, how.warm, Spacing::Barrier);
  barrier(device.table, commands, Scope::Compute, Scope::Transfer);
  for (const Resource resource : how.poisoned) {
    workspace.state().record_fill(commands, resource, how.poison);
  }
  barrier(device.table, commands, Scope::Transfer, Scope::Compute);
  stamps.stamp(commands);
  state_->recordable().record(commands, *sets.back(), Part::Timed);
  barrier(device.table, commands, Scope::Compute, Scope::Compute);
  stamps.stamp(commands);
  barrier(device.table, commands, Scope::Compute, Scope::TransferAndHost);
  submission.submit_and_wait(timeout_s);
  return stamps.steps_ns().front();
}

struct TimedBatch::State {
  State(Executable::State& executable, std::span<Workspace* const> workspaces, const TimedRun& run);

  void record(const Executable::State& executable, Rotation sets, const TimedRun& run);
  void stamp();

  Device::State& device;
  bool has_probe;
  std::optional<Stamps> stamps;
  Submission submission;
};

TimedBatch::State::State(Executable::State& executable, std::span<Workspace* const> workspaces,
                         const TimedRun& run)
    : device(executable.device),
      has_probe(run.probe != nullptr && Stamps::available(device)),
      submission(device, fmt::format("timing a batch of {} of {}", run.batch, executable.label),
                 executable.label + ": timed batch", Submission::Use::Repeated) {
  if (Stamps::available(device)) {
    stamps.emplace(device, has_probe ? 3 : 2);
  }
  record(executable, {.sets = executable.bind(workspaces), .next = run.first_set}, run);
}

void TimedBatch::State::stamp() {
  barrier(device.table, submission.commands(), Scope::Compute, Scope::Compute);
  if (stamps) {
    stamps->stamp(submission.commands());
  }
}

void TimedBatch::State::record(const Executable::State& executable, Rotation sets, const TimedRun& run) {
  const VkCommandBuffer commands = submission.commands();
  if (stamps) {
    stamps->reset(commands);
  }
  barrier(device.table, commands, Scope::Anything, Scope::Compute);
  executable.record_batch(submission, sets, run.warm, Spacing::Barrier);
  stamp();
  executable.record_batch(submission, sets, run.batch, run.spacing);
  stamp();
  if (has_probe) {
    run.probe->record(commands);
    stamp();
  }
  barrier(device.table, commands, Scope::Compute, Scope::TransferAndHost);
}

TimedBatch::TimedBatch(Executable& executable, std::span<Workspace* const> workspaces, const TimedRun& run)
    : state_(std::make_unique<State>(executable.state(), workspaces, run)) {}
TimedBatch::~TimedBatch() = default;
TimedBatch::TimedBatch(TimedBatch&&) noexcept = default;
TimedBatch& TimedBatch::operator=(TimedBatch&&) noexcept = default;

Timing TimedBatch::submit(double timeout_s) {
  Timing timing;
  timing.wall_ns = state_->submission.submit_and_wait(timeout_s);
  if (!state_->stamps) {
    return timing;
  }
  const std::vector<double> steps = state_->stamps->steps_ns();
  timing.gpu_ns = steps[0];
  if (state_->has_probe) {
    timing.probe_ns = steps[1];
  }
  return timing;
}

std::vector<double> Executable::dispatch_ns(Workspace& workspace, double timeout_s, bool warms_up) {
  Workspace* const one = &workspace;
  Rotation sets{.sets = state_->bind({&one, 1})};
  Device::State& device = state_->device;
  if (!Stamps::available(device)) {
    return {};
  }
  Stamps stamps(device, static_cast<std::uint32_t>(state_->timed_dispatches()) + 1);
  Submission submission(device, "timing each dispatch of " + state_->label, state_->label + ": stamped pass");
  const VkCommandBuffer commands = submission.commands();
  stamps.reset(commands);
  barrier(device.table, commands, Scope::Anything, Scope::Compute);
  if (warms_up) state_->record_batch(submission, sets, 1, Spacing::Barrier);
  barrier(device.table, commands, Scope::Compute, Scope::Compute);
  stamps.stamp(commands);
  state_->recordable().record(commands, sets.take(), Part::Timed, [&] { stamps.stamp(commands); });
  barrier(device.table, commands, Scope::Compute, Scope::TransferAndHost);
  submission.submit_and_wait(timeout_s);
  return stamps.steps_ns();
}

}  // namespace assay::gpu
