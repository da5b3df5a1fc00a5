#pragma once

#include "harness/op/ceilings.h"
#include "harness/op/op.h"

#include <optional>
#include <string>

namespace assay {

inline constexpr double suspect_above_pct = 105;
/// On a device of type "cpu", which is shared with whatever else the host does: its ceilings may have been
/// measured at another moment's speed.
inline constexpr double suspect_above_pct_on_cpu = 200;

/// How near one timed program came to its device's limits.
struct Roofline {
  double peak_gbps = 0;    ///< the bandwidth curve at the program's footprint and read share
  double peak_gops = 0;    ///< the ceiling that the impl names; 0: it names bandwidth, or the device has none
  double pct_peak_bw = 0;  ///< of peak_gbps
  double pct_peak_ops = 0;  ///< of peak_gops
  /// The larger share: "bandwidth" or "operations"; where both are under 20 %, "dispatches" when spacings of
  /// empty dispatches are half of the time or more, else "latency". Empty: no ceilings.
  std::string limited_by;
  std::string suspect;  ///< why the time cannot be: a sentence with numbers; empty: it can
};

/// Whether the program's data were in the cache: hot, the same memory again and again; cold, rotating sets
/// that are larger than the cache, so that the far end of the curve is the limit.
enum class Cache : std::uint8_t { Hot, Cold };
std::string_view name_of(Cache cache);  ///< "hot", "cold"
std::optional<Cache> parse_cache(std::string_view name);

/// What was timed.
struct TimedProgram {
  double time_us = 0;
  Cache cache = Cache::Hot;
  Ceiling ceiling = Ceiling::Bandwidth;  ///< the impl's
  int dispatches = 1;                    ///< timed ones
  int input_sets = 1;  ///< hot: of inputs that its programs took turns over, which caches hold all
};

/// Holds `work` done by one program against the ceilings. More than `suspect_pct` of one is suspect.
Roofline roofline(const Ceilings& ceilings, const Work& work, const TimedProgram& program,
                  double suspect_pct = suspect_above_pct);

/// What one program cannot be faster than.
struct LeastTime {
  double seconds = 0;   ///< 0: nothing is known
  std::string because;  ///< "3.2e+09 bytes at 12.1 GB/s", "2.75e+11 operations at 19.4 GOP/s (dot4x8)"
};

/// The least time of `work` at the device's ceilings; `program.time_us` does not count.
LeastTime least_time(const Ceilings& ceilings, const Work& work, const TimedProgram& program);

}  // namespace assay
