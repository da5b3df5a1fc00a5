#include "harness/engine/ceilings/ceilings_bench.h"

#include "harness/base/clock.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::ceiling {
namespace {

constexpr double steady_ratio = 0.02;
constexpr int most_batches = 512;
constexpr int empty_dispatches = 500;
constexpr std::uint64_t least_footprint = 16ULL << 20;

/// Allocates as much of `bytes` as can be had, halving it, and says how much that was.
gpu::Workspace allocate(gpu::Device& device, std::uint64_t& bytes) {
  for (;; bytes /= 2) {
    try {
      return {device, {}, buffers(bytes / 2), 0};
    } catch (const gpu::OutOfMemory&) {
      if (bytes / 2 < least_footprint) throw;
    }
  }
}

}  // namespace

Effort effort_for(const DeviceInfo& device) {
  if (!device.is_cpu()) return {};
  // No clocks to raise; and what a batch costs in the end is a thread's wake-up, not a launch.
  return {.target_ns = 4e6, .repetitions = 3, .least_heat_s = 0, .most_heat_s = 0};
}

Bench::Bench(gpu::Device& device, gpu::ShaderLibrary& shaders, const CeilingOptions& options,
             std::uint64_t footprint_bytes)
    : device_(device),
      shaders_(shaders),
      options_(options),
      effort_(effort_for(device.info())),
      grid_(grid_for(device.info())),
      arithmetic_grid_(arithmetic_grid_for(device.info())),
      footprint_bytes_(footprint_bytes),
      workspace_(allocate(device, footprint_bytes_)) {
  buffers_ = buffers(footprint_bytes_ / 2);
  run(fill_program(grid_, footprint_bytes_ / 2));
}

gpu::Executable Bench::executable(const Program& program) {
  gpu::Executable made(device_, shaders_, program, buffers_, 0);
  made.set_label("ceilings: " + program.dispatches.front().label);
  return made;
}

void Bench::run(const Program& program) {
  executable(program).run(workspace_, "ceilings", options_.timeout_s);
}

double Bench::time(gpu::Executable& executable, int batch) {
  const gpu::Timing timing = executable.time(workspace_, {.warm = 0, .batch = batch}, options_.timeout_s);
  // A broken clock may stand still too.
  const bool seen = timing.gpu_ns && *timing.gpu_ns > 0;
  return (seen ? *timing.gpu_ns : timing.wall_ns) / batch;
}

double Bench::best_ns(gpu::Executable& executable, int batch) {
  double best = std::numeric_limits<double>::infinity();
  double spent = 0;
  for (int i = 0; i < effort_.repetitions && spent < effort_.most_ns; ++i) {
    const double ns = time(executable, batch);
    best = std::min(best, ns);
    spent += ns * batch;
  }
  return best;
}

double Bench::first_ns(gpu::Executable& executable) {
  const double with_preparations = time(executable, 1);
  return std::max(std::min(with_preparations, time(executable, 1)), 1.0);
}

void Bench::heat() {
  if (!(effort_.most_heat_s > 0)) return;
  const Stopwatch watch;
  const Arithmetic arithmetic = fma(Real::Single);
  gpu::Executable heater = executable(arithmetic_kernel(arithmetic, arithmetic_grid_, 1).program);
  double previous = 0;
  while (watch.s() < effort_.most_heat_s) {
    const double once = std::max(time(heater, 1), 1.0);
    const double wanted = std::floor(effort_.longest_batch_ns / once);
    const double ns = time(heater, static_cast<int>(std::clamp(wanted, 1.0, double{most_batches})));
    const bool steady = std::fabs(ns - previous) <= steady_ratio * previous;
    if (steady && watch.s() >= effort_.least_heat_s) return;
    previous = ns;
  }
}

double Bench::rate(const Make& make, std::uint32_t least, double expected) {
  const auto rounds_for = [&](double wanted) {
    return static_cast<std::uint32_t>(
        std::clamp(std::ceil(wanted), static_cast<double>(least), static_cast<double>(max_rounds)));
  };
  std::uint32_t rounds = rounds_for(effort_.target_ns * expected / make(1).work);
  for (;;) {
    const Kernel kernel = make(rounds);
    gpu::Executable timed = executable(kernel.program);
    const double ns = first_ns(timed);
    const std::uint32_t longer = rounds_for(rounds * effort_.target_ns / ns);
    if (ns >= effort_.target_ns / 2 || longer <= rounds) {
      return kernel.work / std::min(ns, best_ns(timed, 1));
    }
    rounds = longer;
  }
}

double Bench::rate_repeated(const Kernel& kernel) {
  gpu::Executable timed = executable(kernel.program);
  const double ns = first_ns(timed);
  if (2 * ns >= effort_.most_ns) return kernel.work / ns;
  const double batch = std::clamp(std::ceil(effort_.target_ns / ns), 1.0, double{most_batches});
  return kernel.work / std::min(ns, best_ns(timed, static_cast<int>(batch)));
}

double Bench::dispatch_ns() {
  gpu::Executable timed = executable(empty_program());
  return best_ns(timed, empty_dispatches);
}

}  // namespace assay::ceiling
