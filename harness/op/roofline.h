#pragma once

#include "harness/device/device_info.h"
#include "harness/op/op.h"

#include <optional>
#include <string>

namespace assay {

inline constexpr double suspect_above_pct = 105;
/// The limit on devices of type "cpu", which share the host with everything else: their ceilings may have
/// been measured while they were slower.
inline constexpr double suspect_above_pct_on_cpu = 200;

/// Says how close a timed program came to its device's limits.
struct Roofline {
  double peak_gbps = 0;    ///< the bandwidth curve at the program's footprint and read share
  double peak_gops = 0;    ///< the ceiling that the impl names; 0: it names bandwidth, or the device has none
  double pct_peak_bw = 0;  ///< percent of peak_gbps
  double pct_peak_ops = 0;  ///< percent of peak_gops
  /// The larger share: "bandwidth" or "operations". If both are under 20 %, it is "dispatches" when the
  /// spacing of several empty dispatches is half of the time or more, "latency" when that of its dispatches
  /// is a quarter of it or more, else "kernel": the device could do it faster. Empty without ceilings.
  std::string limited_by;
  std::string suspect;  ///< why the time is impossible, as a sentence with numbers; empty: it is possible
};

/// Says whether the program's data were in the cache. Hot: the same memory again and again. Cold: rotating
/// sets larger than the cache, so that the far end of the curve is the limit.
enum class Cache : std::uint8_t { Hot, Cold };
std::string_view name_of(Cache cache);  ///< "hot", "cold"

/// The timed program.
struct TimedProgram {
  double time_us = 0;
  Cache cache = Cache::Hot;
  Ceiling ceiling = Ceiling::Bandwidth;  ///< the impl's ceiling
  int dispatches = 1;                    ///< only the timed dispatches
  int input_sets =
      1;  ///< for hot data: input sets that its programs alternate between, all of which fit in the cache
};

/// Compares the `work` of one program with the ceilings. More than `suspect_pct` of a ceiling is suspect.
Roofline roofline(const Ceilings& ceilings, const Work& work, const TimedProgram& program,
                  double suspect_pct = suspect_above_pct);

/// The minimum time of one program.
struct LeastTime {
  double seconds = 0;   ///< 0: unknown
  std::string because;  ///< "3.2e+09 bytes at 12.1 GB/s", "2.75e+11 operations at 19.4 GOP/s (dot4x8)"
};

/// Returns the least time for `work` at the device's ceilings; `program.time_us` is ignored.
LeastTime least_time(const Ceilings& ceilings, const Work& work, const TimedProgram& program);

}  // namespace assay
