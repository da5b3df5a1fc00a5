#pragma once

#include "harness/engine/ceilings/best_reading.h"
#include "harness/engine/ceilings/ceiling_options.h"
#include "harness/engine/ceilings/ceilings_kernels.h"
#include "harness/engine/timing/timing_tools.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace assay::ceiling {

/// How long and how often kernels run. Times in ns.
struct Effort {
  double target_ns = 6e5;  ///< of a batch: so long that its begin and end do not count
  bool watches_clock = true;
  Patience patience;
};
Effort effort_for(const DeviceInfo& device);

/// Runs kernels over one workspace and keeps the best of their times. Each figure is taken at the device's
/// full clock: the kernel itself runs until the clock probe behind it says that the clock is up, and a batch
/// whose clock probe was down does not count. (Of a CPU there is no clock to watch: what its probe tells is
/// the load.) There is one pipeline a kernel, however often and over however much it runs.
class Bench {
 public:
  /// Allocates the two buffers, of half `footprint_bytes` each, and fills them with words that look random.
  /// When they are not to be had, half as much is tried, down to 16 MiB; then throws gpu::OutOfMemory.
  Bench(TimingTools& tools, gpu::ShaderLibrary& shaders, const CeilingOptions& options,
        std::uint64_t footprint_bytes);

  const Grid& grid() const { return grid_; }
  const Grid& arithmetic_grid() const { return arithmetic_grid_; }
  std::uint64_t footprint_bytes() const { return footprint_bytes_; }

  using Make = std::function<Kernel(std::uint32_t rounds)>;
  /// Best work per ns (GB/s, Gop/s) of the kernel with as many rounds, of `least` to max_rounds, as make it
  /// last; `expected` is a guess of the same (0: none). 0 when the clock was down whenever it was tried.
  double rate(const Make& make, std::uint32_t least, double expected);
  /// The same for one that has no rounds: repeated, a barrier between each two.
  double rate_repeated(const Kernel& kernel);

  /// ns from one empty dispatch to the next; 0 when the clock was down whenever it was tried.
  double dispatch_ns();

  /// The lowest clock, of the full clock, at which a figure was taken; 0: the device has no clock to watch.
  double clock_ratio() const;

 private:
  /// The program's pipeline with its workgroups and push constants.
  gpu::Executable& executable(const Program& program);
  Reading read(gpu::Executable& executable, int batch);
  /// The best of some batches; nothing when the clock was down whenever it was tried.
  std::optional<double> best_ns(gpu::Executable& executable, int batch);
  /// Of the first two runs; drivers may compile when a pipeline first runs.
  double first_ns(gpu::Executable& executable);

  TimingTools& tools_;
  gpu::ShaderLibrary& shaders_;
  CeilingOptions options_;
  Effort effort_;
  Grid grid_, arithmetic_grid_;
  std::uint64_t footprint_bytes_;
  std::vector<Physical> buffers_;
  gpu::Workspace workspace_;
  std::map<std::string, gpu::Executable> executables_;  ///< by shader, variant and size of workgroups
  double slowest_probe_ns_ = 0;                         ///< beside a figure
};

}  // namespace assay::ceiling
