#include "harness/gpu/kernels/clock_probe.h"

#include "harness/gpu/commands/submission.h"
#include "harness/gpu/memory/workspace.h"
#include "harness/gpu/program/pipeline.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

namespace assay::gpu {
namespace {

constexpr std::uint32_t local_size = 64;
constexpr double probe_ns_gpu = 80e3;
constexpr double probe_ns_cpu = 200e3;  // a CPU starts its threads for each dispatch, which takes tens of us
constexpr double choice_ns = 2e6;       // the length of the dispatch by which rounds are chosen
constexpr std::uint32_t most_rounds = 1U << 24;
constexpr double probe_timeout_s = 30;

double probe_ns(const DeviceInfo& device) {
  return device.is_cpu() ? probe_ns_cpu : probe_ns_gpu;
}

/// Several per core of a large GPU, which all run at the same time, so the time is that of one. A CPU runs
/// them one after the other and needs only enough to use each of its threads.
std::uint32_t workgroups(const DeviceInfo& device) {
  return device.is_cpu() ? 64 : 256;
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<Physical> tensors_for(const DeviceInfo& device) {
  return {Physical({Storage::Buffer, Layout::WP}, DType::F32, {probe_words(device)})};
}

std::vector<SharedPipeline> pipelines_for(Device::State& device, ShaderLibrary& shaders,
                                          const Program& program) {
  const Dispatch& dispatch = program.dispatches.front();
  const Spirv& spirv = shaders.compile(dispatch.shader, dispatch.defines);
  return {pipelines_of(device).get(dispatch, {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER}, spirv, /*guard=*/0)};
}

PushConstants push_of(std::uint32_t rounds) {
  // Converges to 1: neither denormal nor infinite after any number of steps.
  return PushConstants().add(static_cast<std::int64_t>(rounds)).add(0.9990234375F).add(0.0009765625F);
}

}  // namespace

std::int64_t probe_words(const DeviceInfo& device) {
  return static_cast<std::int64_t>(workgroups(device)) * local_size;
}

Program probe_program(const DeviceInfo& device, std::uint32_t rounds) {
  Program program;
  program.dispatches.push_back({.label = "clock probe",
                                .shader = "clock_probe.comp",
                                .defines = {},
                                .local_size = {local_size, 1, 1},
                                .workgroups = {workgroups(device), 1, 1},
                                .constants = {},
                                .push = push_of(rounds),
                                .bindings = {Resource::tensor(0)}});
  return program;
}

ClockProbeKernel::ClockProbeKernel(Device& device, ShaderLibrary& shaders)
    : device_(device.state()),
      program_(probe_program(device.info(), 1)),
      workspace_(device, program_, tensors_for(device.info()), /*guard=*/0),
      pipelines_(pipelines_for(device_, shaders, program_)),
      bindings_(device_.table, program_, pipelines_, workspace_.state()) {}

void ClockProbeKernel::record(VkCommandBuffer commands, std::uint32_t rounds) {
  program_.dispatches.front().push = push_of(rounds);
  Recordable{device_.table, program_, pipelines_}.record(commands, bindings_, Part::Timed);
}

StampedRun ClockProbeKernel::run(std::span<const std::uint32_t> rounds, double limit_s) {
  std::optional<Stamps> stamps;
  if (Stamps::available(device_)) {
    stamps.emplace(device_, static_cast<std::uint32_t>(rounds.size() + 1));
  }
  Submission submission(device_, "timing the clock probe", "clock probe");
  const VkCommandBuffer commands = submission.commands();
  const auto stamp = [&] {
    barrier(device_.table, commands, Scope::Compute, Scope::Compute);
    if (stamps) {
      stamps->stamp(commands);
    }
  };
  if (stamps) {
    stamps->reset(commands);
  }
  stamp();
  for (const std::uint32_t count : rounds) {
    if (count > 0) {
      record(commands, count);
    }
    stamp();
  }
  StampedRun result;
  result.wall_ns = submission.submit_and_wait(limit_s);
  if (stamps) {
    result.ticks = stamps->ticks();
  }
  return result;
}

/// The smallest of several readings, since other work on the machine only adds time.
double ClockProbeKernel::best_wall_ns(std::uint32_t rounds, double limit_s) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 7; ++i) {
    best = std::min(best, wall_ns(rounds, limit_s));
  }
  return best;
}

/// Heats the device: an idle GPU runs at a fraction of its clock and takes up to a second of work to raise
/// it.
void ClockProbeKernel::heat(std::uint32_t rounds, double limit_s) {
  const bool cpu = device_.info().is_cpu();
  const double patience_s = cpu ? 0.02 : 0.4;
  const double most_s = cpu ? 0.1 : 2;
  const double started = now_s();
  double improved = started;
  double best_ns = std::numeric_limits<double>::infinity();
  while (now_s() - improved < patience_s && now_s() - started < most_s) {
    const double reading_ns = wall_ns(rounds, limit_s);
    if (reading_ns < 0.99 * best_ns) {
      best_ns = reading_ns;
      improved = now_s();
    }
  }
}

std::uint32_t ClockProbeKernel::rounds_for(double target_ns, double limit_s) {
  std::uint32_t rounds = 1;
  while (rounds < most_rounds / 8 && wall_ns(rounds, limit_s) < choice_ns) {
    rounds *= 2;
  }
  heat(rounds, limit_s);
  // The overhead of a submission cancels in the difference. Once warm, the run may be too short again.
  double difference_ns = 0;
  for (;;) {
    difference_ns = best_wall_ns(3 * rounds, limit_s) - best_wall_ns(rounds, limit_s);
    if (difference_ns >= choice_ns || rounds >= most_rounds / 8) {
      break;
    }
    rounds *= 2;
  }
  const double wanted = target_ns * 2 * rounds / std::max(difference_ns, 1.0);
  return static_cast<std::uint32_t>(std::clamp(std::round(wanted), 1.0, static_cast<double>(most_rounds)));
}

ClockProbe::State::State(Device& device, ShaderLibrary& shaders)
    : kernel(device, shaders), rounds(kernel.rounds_for(probe_ns(device.info()), probe_timeout_s)) {}

ClockProbe::ClockProbe(Device& device, ShaderLibrary& shaders)
    : state_(std::make_unique<State>(device, shaders)) {}
ClockProbe::~ClockProbe() = default;
ClockProbe::ClockProbe(ClockProbe&&) noexcept = default;
ClockProbe& ClockProbe::operator=(ClockProbe&&) noexcept = default;

AppendedWork& ClockProbe::work() const {
  return *state_;
}

double ClockProbe::time_ns(double timeout_s) {
  const DeviceInfo& info = state_->kernel.device().info();
  const std::array rounds{state_->rounds, state_->rounds};
  const StampedRun run = state_->kernel.run(rounds, timeout_s);
  if (run.ticks.empty()) {
    return run.wall_ns / 2;
  }
  return ticks_to_ns(run.ticks[1], run.ticks[2], info.timestamp_valid_bits, info.timestamp_period_ns);
}

void ClockProbe::burden(Program& program, double ns) const {
  const DeviceInfo& device = state_->kernel.device().info();
  const double rounds_per_ns = state_->rounds / probe_ns(device);
  const double rounds = std::clamp(ns * rounds_per_ns, 1.0, static_cast<double>(most_rounds));
  Program work = probe_program(device, static_cast<std::uint32_t>(rounds));
  Dispatch& dispatch = work.dispatches.front();
  dispatch.label = "burden";
  dispatch.bindings = {Resource::scratch(static_cast<std::uint32_t>(program.scratch.size()))};
  program.scratch.push_back(
      {.name = "burden", .dtype = DType::F32, .shape = {probe_words(device)}, .form = {}});
  program.dispatches.push_back(std::move(dispatch));
}

}  // namespace assay::gpu
