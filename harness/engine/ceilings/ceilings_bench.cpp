#include "harness/engine/ceilings/ceilings_bench.h"

#include "harness/base/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace assay::ceiling {
namespace {

constexpr std::uint64_t vector_bytes = 16;
constexpr std::int64_t sink_words = 1 << 16;
constexpr int steps_per_round = 16 * 16;  // chains by steps: EACH(16, ..) and TIMES_16 of the shaders
constexpr int products_per_round = 8 * 4;

Define define(std::string name, std::uint64_t value) {
  return {std::move(name), fmt::format("{}", value)};
}

Physical words(std::int64_t count) {
  return {{Storage::Buffer, Layout::WP}, DType::I32, {count}};
}

std::array<std::uint32_t, 3> fold(std::uint64_t workgroups, std::uint32_t local_size) {
  return fold_grid(static_cast<std::int64_t>(workgroups * local_size), local_size);
}

void add(PushConstants& push, Keep keep) {
  push.add(std::int64_t{keep.mask}).add(std::int64_t{keep.value});
}

Program one(Dispatch dispatch) {
  Program program;
  program.dispatches.push_back(std::move(dispatch));
  return program;
}

/// The distance in chunks between a workgroup's rounds. In a large footprint the workgroups together advance
/// linearly; in a small one the step is coprime to the number of chunks, so that a workgroup visits every
/// chunk before it repeats one.
std::uint32_t step_between(std::uint32_t chunks, std::uint32_t workgroups) {
  std::uint32_t step = workgroups % chunks;
  while (std::gcd(step, chunks) != 1) ++step;
  return step % chunks;
}

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

std::vector<Physical> buffers(std::uint64_t bytes_each) {
  const Physical half = words(static_cast<std::int64_t>(bytes_each / sizeof(std::uint32_t)));
  return {half, half, words(sink_words)};
}

Grid grid_for(const DeviceInfo& device) {
  const std::uint32_t largest = std::min(device.max_workgroup_invocations, device.max_workgroup_size[0]);
  if (device.is_cpu()) return {.workgroups = 64, .local_size = std::min(64U, largest)};
  return {.workgroups = 4096, .local_size = std::min(256U, largest)};
}

Grid arithmetic_grid_for(const DeviceInfo& device) {
  constexpr std::uint32_t small = 64;  // a multiple of every device's subgroup size
  const Grid grid = grid_for(device);
  const std::uint32_t parts = std::max(grid.local_size / small, 1U);
  return {.workgroups = grid.workgroups * parts, .local_size = grid.local_size / parts};
}

std::uint64_t chunk_bytes(Walk walk, const Grid& grid) {
  return 2 * vector_bytes * walk.vectors * grid.local_size;
}

Kernel bandwidth_kernel(Access access, Walk walk, const Grid& grid, std::uint64_t footprint_bytes,
                        std::uint32_t rounds, Keep keep) {
  const auto chunks = static_cast<std::uint32_t>(footprint_bytes / chunk_bytes(walk, grid));
  const std::uint64_t taken = walk.rounds ? std::uint64_t{grid.workgroups} * rounds : chunks;
  Dispatch dispatch{.label = "bandwidth", .shader = "ceilings/bandwidth.comp"};
  dispatch.defines = {define("MODE", static_cast<std::uint64_t>(access)), define("VECTORS", walk.vectors),
                      define("ROUNDS", walk.rounds ? 1 : 0)};
  dispatch.local_size = {grid.local_size, 1, 1};
  dispatch.workgroups = fold(walk.rounds ? grid.workgroups : chunks, grid.local_size);
  dispatch.push.add(std::int64_t{chunks}).add(std::int64_t{step_between(chunks, grid.workgroups)});
  dispatch.push.add(std::int64_t{rounds});
  add(dispatch.push, keep);
  dispatch.bindings = {Resource::tensor(first), Resource::tensor(second)};
  if (access == Access::Read) dispatch.bindings.emplace_back(Resource::tensor(sink));
  return {one(std::move(dispatch)), static_cast<double>(taken * chunk_bytes(walk, grid))};
}

Program fill_program(const Grid& grid, std::uint64_t bytes_each) {
  const std::uint64_t vectors = bytes_each / vector_bytes;
  Dispatch dispatch{.label = "fill", .shader = "ceilings/fill.comp"};
  dispatch.local_size = {grid.local_size, 1, 1};
  dispatch.workgroups = fold_grid(static_cast<std::int64_t>(vectors), grid.local_size);
  dispatch.push.add(static_cast<std::int64_t>(vectors));
  dispatch.bindings = {Resource::tensor(first), Resource::tensor(second)};
  return one(std::move(dispatch));
}

Program empty_program() {
  return one({.label = "empty", .shader = "ceilings/empty.comp"});
}

Arithmetic fma(Real real, float factor, float addend) {
  const bool half = real == Real::Half;
  return {.shader = "ceilings/fma.comp",
          .defines = {define("HALF", half ? 1 : 0)},
          .operations = 2.0 * steps_per_round * (half ? 2 : 1),
          .factor = std::bit_cast<std::uint32_t>(factor),
          .addend = std::bit_cast<std::uint32_t>(addend)};
}

Arithmetic dot4x8(Addition addition, std::uint32_t factor, std::uint32_t addend) {
  return {.shader = "ceilings/dot4x8.comp",
          .defines = {define("SATURATE", addition == Addition::Saturating ? 1 : 0)},
          .operations = 2.0 * 4 * steps_per_round,
          .factor = factor,
          .addend = addend};
}

Arithmetic cooperative(const CooperativeShape& shape, std::uint32_t subgroup_size) {
  const bool half = shape.factors == DType::F16;
  Arithmetic arithmetic{.shader = "ceilings/cooperative.comp"};
  arithmetic.defines = {define("HALF", half ? 1 : 0), define("ROWS", shape.rows),
                        define("COLUMNS", shape.columns), define("DEPTH", shape.depth)};
  if (half) arithmetic.defines.push_back(define("SUM_BITS", shape.sums == DType::F16 ? 16 : 32));
  // Not asked of the type: a driver may not know the length of KHR's among its constants.
  arithmetic.defines.push_back(define("ELEMENTS", shape.rows * shape.columns / subgroup_size));
  if (shape.extension == MatrixExtension::Khr) add_khr_matrices(arithmetic.defines);
  const double product = 2.0 * shape.rows * shape.columns * shape.depth;
  arithmetic.operations = products_per_round * product / subgroup_size;
  arithmetic.factor = half ? std::bit_cast<std::uint32_t>(1.0F) : 1;
  arithmetic.addend = arithmetic.factor;
  return arithmetic;
}

std::uint32_t demanded_subgroup_size(const DeviceInfo& device, std::uint32_t local_size) {
  return device.can_demand(device.subgroup_size, {local_size, 1, 1}) ? device.subgroup_size : 0;
}

Kernel arithmetic_kernel(const Arithmetic& arithmetic, const Grid& grid, std::uint32_t rounds, Keep keep) {
  Dispatch dispatch{.label = "arithmetic", .shader = arithmetic.shader, .defines = arithmetic.defines};
  dispatch.local_size = {grid.local_size, 1, 1};
  dispatch.subgroup_size = arithmetic.subgroup_size;
  dispatch.workgroups = fold(grid.workgroups, grid.local_size);
  dispatch.push.add(std::int64_t{rounds});
  dispatch.push.add(std::int64_t{arithmetic.factor}).add(std::int64_t{arithmetic.addend});
  add(dispatch.push, keep);
  dispatch.bindings = {Resource::tensor(sink)};
  const double invocations = static_cast<double>(grid.workgroups) * grid.local_size;
  return {one(std::move(dispatch)), invocations * rounds * arithmetic.operations};
}

std::vector<Program> all_programs() {
  const Grid grid{.workgroups = 1, .local_size = 64};
  std::vector<Program> programs{fill_program(grid, chunk_bytes({}, grid)), empty_program()};
  for (const Access access : {Access::Copy, Access::Read, Access::Write}) {
    for (const bool rounds : {false, true}) {
      const Walk walk{.vectors = 4, .rounds = rounds};
      programs.push_back(bandwidth_kernel(access, walk, grid, chunk_bytes(walk, grid), 1).program);
    }
  }
  constexpr std::uint32_t any_size = 16;
  for (const Arithmetic& arithmetic :
       {fma(Real::Single), fma(Real::Half), dot4x8(Addition::Plain), dot4x8(Addition::Saturating),
        cooperative({any_size, any_size, any_size, DType::F16, DType::F16}, 1),
        cooperative({any_size, any_size, any_size, DType::F16, DType::F32}, 1),
        cooperative({any_size, any_size, any_size, DType::I8, DType::I32}, 1),
        cooperative({any_size, any_size, any_size, DType::I8, DType::I32, MatrixExtension::Khr}, 1)}) {
    programs.push_back(arithmetic_kernel(arithmetic, grid, 1).program);
  }
  return programs;
}

std::optional<Reading> best_reading(const ReadingSource& source, ClockWatch& clock, const Patience& patience,
                                    double batch) {
  if (auto best = best_of_one_try(source, clock, patience, batch)) return best;
  source.rest_s(patience.rest_s);
  return best_of_one_try(source, clock, patience, batch);
}

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
