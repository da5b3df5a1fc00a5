#include "harness/engine/ceilings/ceilings_bench.h"

#include "harness/base/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::ceiling {

namespace {

std::optional<Reading> best_of_one_try(const ReadingSource& source, ClockWatch& clock,
                                       const Patience& patience, double batch) {
  std::optional<Reading> best;
  double spent_ns = 0;
  int counted = 0;
  const double began_s = source.now_s();
  while (counted < patience.repetitions && spent_ns < patience.most_ns) {
    const Reading reading = source.read();
    clock.hear(reading.probe_ns);
    if (clock.is_down(reading.probe_ns)) {
      if (source.now_s() - began_s > patience.heating_s) break;
      continue;
    }
    ++counted;
    spent_ns += reading.ns * batch;
    if (!best || reading.ns < best->ns) best = reading;
  }
  return best;
}

}  // namespace

std::optional<Reading> best_reading(const ReadingSource& source, ClockWatch& clock, const Patience& patience,
                                    double batch) {
  if (auto best = best_of_one_try(source, clock, patience, batch)) return best;
  source.rest_s(patience.rest_s);
  return best_of_one_try(source, clock, patience, batch);
}

namespace {

constexpr int most_batches = 512;
constexpr int empty_dispatches = 500;
constexpr std::uint64_t least_bench_footprint = 16ULL << 20;

/// Allocates a workspace of `bytes`, halving `bytes` until the allocation succeeds.
gpu::Workspace allocate(gpu::Device& device, std::uint64_t& bytes) {
  for (;; bytes /= 2) {
    try {
      return {device, {}, buffers(bytes / 2), 0};
    } catch (const gpu::OutOfMemory&) {
      if (bytes / 2 < least_bench_footprint) throw;
    }
  }
}

/// Everything that a pipeline depends on: all of a dispatch except workgroups and push constants.
std::string pipeline_key(const Dispatch& dispatch) {
  std::string key = fmt::format("{} {}", dispatch.shader, dispatch.local_size[0]);
  for (const Define& define : dispatch.defines) key += fmt::format(" {}={}", define.name, define.value);
  return key;
}

}  // namespace

Effort effort_for(const DeviceInfo& device) {
  if (!device.is_cpu()) return {};
  // The overhead of a batch on a CPU is a thread's wake-up, not a launch.
  return {.target_ns = 4e6, .watches_clock = false, .patience = {.repetitions = 3}};
}

Bench::Bench(TimingTools& tools, gpu::ShaderLibrary& shaders, const CeilingOptions& options,
             std::uint64_t footprint_bytes)
    : tools_(tools),
      shaders_(shaders),
      options_(options),
      effort_(effort_for(tools.device.info())),
      grid_(grid_for(tools.device.info())),
      arithmetic_grid_(arithmetic_grid_for(tools.device.info())),
      footprint_bytes_(footprint_bytes),
      workspace_(allocate(tools.device, footprint_bytes_)) {
  buffers_ = buffers(footprint_bytes_ / 2);
  executable(fill_program(grid_, footprint_bytes_ / 2)).run(workspace_, "ceilings", options_.timeout_s);
}

gpu::Executable& Bench::executable(const Program& program) {
  const Dispatch& dispatch = program.dispatches.front();
  const std::string key = pipeline_key(dispatch);
  const auto found = executables_.find(key);
  if (found != executables_.end()) {
    found->second.vary(0, dispatch.workgroups, dispatch.push);
    return found->second;
  }
  gpu::Executable made(tools_.device, shaders_, program, buffers_, 0);
  made.set_label("ceilings: " + dispatch.label);
  return executables_.emplace(key, std::move(made)).first->second;
}

Reading Bench::read(gpu::Executable& executable, int batch) {
  const gpu::TimedRun run{
      .warm = 0, .batch = batch, .probe = effort_.watches_clock ? &tools_.probe.work() : nullptr};
  const gpu::Timing timing = executable.time(workspace_, run, options_.timeout_s);
  // A broken clock may stand still.
  const bool seen = timing.gpu_ns && *timing.gpu_ns > 0;
  return {.ns = (seen ? *timing.gpu_ns : timing.wall_ns) / batch, .probe_ns = timing.probe_ns.value_or(0)};
}

std::optional<double> Bench::best_ns(gpu::Executable& executable, int batch) {
  const ReadingSource source{
      .read = [&] { return read(executable, batch); }, .now_s = steady_seconds, .rest_s = sleep_for_seconds};
  const std::optional<Reading> best = best_reading(source, tools_.clock, effort_.patience, batch);
  if (!best) return std::nullopt;
  slowest_probe_ns_ = std::max(slowest_probe_ns_, best->probe_ns);
  return best->ns;
}

double Bench::first_ns(gpu::Executable& executable) {
  const double with_preparations = read(executable, 1).ns;
  return std::max(std::min(with_preparations, read(executable, 1).ns), 1.0);
}

double Bench::rate(const Make& make, std::uint32_t least, double expected) {
  const auto rounds_for = [&](double wanted) {
    return static_cast<std::uint32_t>(
        std::clamp(std::ceil(wanted), static_cast<double>(least), static_cast<double>(max_rounds)));
  };
  std::uint32_t rounds = rounds_for(effort_.target_ns * expected / make(1).work);
  for (;;) {
    const Kernel kernel = make(rounds);
    gpu::Executable& timed = executable(kernel.program);
    const double ns = first_ns(timed);
    const std::uint32_t longer = rounds_for(rounds * effort_.target_ns / ns);
    if (ns >= effort_.target_ns / 2 || longer <= rounds) {
      return kernel.work / best_ns(timed, 1).value_or(std::numeric_limits<double>::infinity());
    }
    rounds = longer;
  }
}

double Bench::rate_repeated(const Kernel& kernel) {
  gpu::Executable& timed = executable(kernel.program);
  const double batch =
      std::clamp(std::ceil(effort_.target_ns / first_ns(timed)), 1.0, static_cast<double>(most_batches));
  return kernel.work /
         best_ns(timed, static_cast<int>(batch)).value_or(std::numeric_limits<double>::infinity());
}

double Bench::dispatch_ns() {
  return best_ns(executable(empty_program()), empty_dispatches).value_or(0);
}

double Bench::clock_ratio() const {
  return slowest_probe_ns_ > 0 ? std::min(tools_.clock.full_clock_ns() / slowest_probe_ns_, 1.0) : 0;
}

}  // namespace assay::ceiling
