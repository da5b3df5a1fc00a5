#pragma once

#include "harness/engine/ceilings/ceiling_options.h"
#include "harness/engine/ceilings/ceilings_kernels.h"

#include <cstdint>
#include <functional>

namespace assay::ceiling {

/// How long and how often kernels run. Times in ns.
struct Effort {
  double target_ns = 6e5;          ///< of a batch: so long that its begin and end do not count
  int repetitions = 6;             ///< batches, of which the best counts
  double most_ns = 6e7;            ///< no further batch of a kernel begins after so long
  double longest_batch_ns = 25e6;  ///< drivers' watchdogs: well under 100 ms
  double least_heat_s = 0.5;       ///< work before anything is timed: a GPU that stood idle raises its
  double most_heat_s = 1;          ///< clocks within a second
};
Effort effort_for(const DeviceInfo& device);

/// Runs kernels over one workspace and keeps the best of their times.
class Bench {
 public:
  /// Allocates the two buffers, of half `footprint_bytes` each, and fills them with words that look random.
  /// When they are not to be had, half as much is tried, down to 16 MiB; then throws gpu::OutOfMemory.
  Bench(gpu::Device& device, gpu::ShaderLibrary& shaders, const CeilingOptions& options,
        std::uint64_t footprint_bytes);

  const Grid& grid() const { return grid_; }
  const Grid& arithmetic_grid() const { return arithmetic_grid_; }
  std::uint64_t footprint_bytes() const { return footprint_bytes_; }
  const gpu::Workspace& workspace() const { return workspace_; }

  /// Works until the clocks are up: two batches agree within 2 %.
  void heat();

  using Make = std::function<Kernel(std::uint32_t rounds)>;
  /// Best work per ns (GB/s, Gop/s) of the kernel with as many rounds, of `least` to max_rounds, as make it
  /// last; `expected` is a guess of the same (0: none).
  double rate(const Make& make, std::uint32_t least, double expected);
  /// The same for one that has no rounds: repeated, a barrier between each two.
  double rate_repeated(const Kernel& kernel);

  /// ns from one empty dispatch to the next.
  double dispatch_ns();

  /// Runs a program once, untimed.
  void run(const Program& program);

 private:
  gpu::Executable executable(const Program& program);
  double time(gpu::Executable& executable, int batch);
  /// ns of one run.
  double best_ns(gpu::Executable& executable, int batch);
  /// Of the first two runs; drivers may compile when a pipeline first runs.
  double first_ns(gpu::Executable& executable);

  gpu::Device& device_;
  gpu::ShaderLibrary& shaders_;
  CeilingOptions options_;
  Effort effort_;
  Grid grid_, arithmetic_grid_;
  std::uint64_t footprint_bytes_;
  std::vector<Physical> buffers_;
  gpu::Workspace workspace_;
};

}  // namespace assay::ceiling
