#pragma once

#include "harness/engine/ceilings/ceiling_options.h"
#include "harness/engine/ceilings/ceilings_kernels.h"
#include "harness/engine/timing/timing_tools.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace assay::ceiling {

/// The times of one batch: ns per run, and ns of the clock probe after it (0: there is none).
struct Reading {
  double ns = 0;
  double probe_ns = 0;
};

/// Limits on the runs of a kernel for one figure.
struct Patience {
  int repetitions = 6;   ///< readings at full clock; the best one counts
  double most_ns = 6e7;  ///< no further reading once these have taken this long
  /// A kernel runs for at most this long, and its readings do not count, until the clock is up; once more
  /// after a rest.
  double heating_s = 0.75;
  double rest_s = 0.25;
};

/// Takes the readings, reads the clock and rests; tests replace it.
struct ReadingSource {
  std::function<Reading()> read;
  std::function<double()> now_s;
  std::function<void(double)> rest_s;
};

/// The shortest of several readings at the device's full clock. Readings whose clock probe was slow heat the
/// device and do not count. Nothing when the clock was never up. `clock` gets all probe times.
std::optional<Reading> best_reading(const ReadingSource& source, ClockWatch& clock, const Patience& patience,
                                    double batch);

/// How long and how often kernels run.
struct Effort {
  double target_ns = 6e5;  ///< of a batch: long enough that its start and end do not matter
  bool watches_clock = true;
  Patience patience;
};
Effort effort_for(const DeviceInfo& device);

/// Runs kernels over one workspace and keeps their best times. Each figure is taken at the device's full
/// clock: the kernel itself runs until the clock probe after it shows that the clock is up, and a batch whose
/// clock probe was slow does not count. (A CPU has no clock to watch: its probe shows the load.) Each kernel
/// has one pipeline, whatever its number of runs and its footprint.
class Bench {
 public:
  /// Allocates two buffers of half `footprint_bytes` each and fills them with words that look random. If that
  /// fails, tries half as much, down to 16 MiB; then throws gpu::OutOfMemory.
  Bench(TimingTools& tools, gpu::ShaderLibrary& shaders, const CeilingOptions& options,
        std::uint64_t footprint_bytes);

  const Grid& grid() const { return grid_; }
  const Grid& arithmetic_grid() const { return arithmetic_grid_; }
  std::uint64_t footprint_bytes() const { return footprint_bytes_; }

  using Make = std::function<Kernel(std::uint32_t rounds)>;
  /// Best work per ns (GB/s, Gop/s) of the kernel. Its rounds, `least` to max_rounds, are chosen so that it
  /// runs long enough; `expected` is a guess of the rate (0: none). Returns 0 when the clock was never up.
  double rate(const Make& make, std::uint32_t least, double expected);
  /// Best work per ns of a kernel without rounds, which is repeated with barriers between the runs.
  double rate_repeated(const Kernel& kernel);

  /// ns from one empty dispatch to the next; 0 when the clock was never up.
  double dispatch_ns();

  /// The lowest clock at which a figure was taken, as a share of the full clock; 0: the device has no clock
  /// to watch.
  double clock_ratio() const;

 private:
  /// The program's pipeline with its workgroups and push constants.
  gpu::Executable& executable(const Program& program);
  Reading read(gpu::Executable& executable, int batch);
  /// The best of several batches; nothing when the clock was never up.
  std::optional<double> best_ns(gpu::Executable& executable, int batch);
  /// The shorter of the first two runs, because drivers may still compile during a pipeline's first run.
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
  double slowest_probe_ns_ = 0;                         ///< of all probes that ran with a figure
};

}  // namespace assay::ceiling
