#pragma once

#include "harness/device/device_info.h"
#include "harness/engine/timing/timing_tools.h"
#include "harness/gpu/gpu.h"
#include "harness/op/program.h"

#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// How ceilings are measured.
struct CeilingOptions {
  double timeout_s = 30;  ///< per submission
  /// The largest footprint of the bandwidth curve; 0: 1 GiB on a discrete GPU, 256 MiB elsewhere. It is
  /// reduced when the device has less than four times as much memory or cannot bind that much.
  std::uint64_t max_footprint_bytes = 0;
};

}  // namespace assay

namespace assay::ceiling {

// The programs that load one part of a device as much as it can be loaded; their shaders are in
// shaders/ceilings. All run on workspaces of three buffers: two of one length (`first`, `second`), and
// `sink`, for results that are not used.

inline constexpr std::uint32_t first = 0, second = 1, sink = 2;
/// Lavapipe leaves a loop after 65535 iterations, whatever it should do.
inline constexpr std::uint32_t max_rounds = 16384;

std::vector<Physical> buffers(std::uint64_t bytes_each);

struct Kernel {
  Program program;
  double work = 0;  ///< bytes moved or operations done by one run
};

/// Enough workgroups to fill a device for several waves, of a size that every device supports.
struct Grid {
  std::uint32_t workgroups = 0;
  std::uint32_t local_size = 0;
};
Grid grid_for(const DeviceInfo& device);
/// As many invocations as grid_for() in small workgroups, so that all multiprocessors get equal shares of
/// arithmetic.
Grid arithmetic_grid_for(const DeviceInfo& device);

/// Which results are stored: those with (result & mask) == value.
struct Keep {
  std::uint32_t mask = ~0U;
  std::uint32_t value = 0x5eed1e55;

  static Keep all() { return {.mask = 0, .value = 0}; }
};

enum class Access : std::uint8_t { Copy, Read, Write };

/// How a bandwidth kernel goes through memory: see shaders/ceilings/bandwidth.comp.
struct Walk {
  std::uint32_t vectors = 4;  ///< 16-byte vectors of a buffer that an invocation has in flight
  bool rounds = true;         ///< false: every invocation goes through its part of the footprint once
};

/// Bytes of both buffers that a workgroup processes at a time; footprints are multiples of it.
std::uint64_t chunk_bytes(Walk walk, const Grid& grid);

/// Goes over the first footprint_bytes / 2 of both buffers. With walk.rounds each workgroup processes
/// `rounds` chunks, wherever that ends; else the footprint is visited once.
Kernel bandwidth_kernel(Access access, Walk walk, const Grid& grid, std::uint64_t footprint_bytes,
                        std::uint32_t rounds, Keep keep = {});

/// Writes incompressible words to both buffers.
Program fill_program(const Grid& grid, std::uint64_t bytes_each);

/// One workgroup that does nothing.
Program empty_program();

/// Multiply-adds of one kind.
struct Arithmetic {
  std::string shader;
  std::vector<Define> defines;
  double operations = 0;  ///< per invocation and round
  std::uint32_t factor = 0;
  std::uint32_t addend = 0;         ///< factor and addend as bits
  std::uint32_t subgroup_size = 0;  ///< to be demanded (Dispatch::subgroup_size)
};

enum class Real : std::uint8_t { Single, Half };
enum class Addition : std::uint8_t { Plain, Saturating };

/// Per invocation 16 chains of x = x * factor + addend (pairs of x for Half), 16 steps per round, from x = 1
/// + chain + local invocation % 8.
Arithmetic fma(Real real, float factor = 0.5F, float addend = 1.25F);
/// Per invocation 16 chains of x = dot(x, factor) + addend, 16 steps per round, from x = (chain + 1) *
/// 0x01030507 + local invocation.
Arithmetic dot4x8(Addition addition, std::uint32_t factor = 0x0103ff02, std::uint32_t addend = 0x01234567);
/// Per subgroup 8 sums of matrix products, 4 steps per round; every element of the factors is 1.
Arithmetic cooperative(const CooperativeShape& shape, std::uint32_t subgroup_size);

/// The subgroup size that kernels with matrices demand in workgroups of `local_size`: the device's own, with
/// all subgroups full, where the device can give that; else 0.
std::uint32_t demanded_subgroup_size(const DeviceInfo& device, std::uint32_t local_size);

/// A kernel in which every invocation of the grid does `rounds` rounds.
Kernel arithmetic_kernel(const Arithmetic& arithmetic, const Grid& grid, std::uint32_t rounds,
                         Keep keep = {});

/// Each kind of kernel once, for the hash of the kernels.
std::vector<Program> all_programs();

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
