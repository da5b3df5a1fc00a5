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
  double pct_peak_bw = 0;   ///< of the bandwidth curve at the program's footprint and read share
  double pct_peak_ops = 0;  ///< of the ceiling that the op's work names; 0: it names bandwidth
  std::string limited_by;   ///< "bandwidth", "operations", "latency"; empty: no ceilings
  std::string suspect;      ///< why the time cannot be: a sentence with numbers; empty: it can
};

/// Whether the program's data were in the cache: hot, the same memory again and again; cold, rotating sets
/// that are larger than the cache, so that the far end of the curve is the limit.
enum class Cache : std::uint8_t { Hot, Cold };
std::string_view name_of(Cache cache);  ///< "hot", "cold"
std::optional<Cache> parse_cache(std::string_view name);

/// `time_us` for `work` in one program. limited_by is the larger share; `latency` when both are under 20 %
/// and the time is under 5 dispatch spacings. More than `suspect_pct` of a ceiling is suspect.
Roofline roofline(const Ceilings& ceilings, const Work& work, Cache cache, double time_us,
                  double suspect_pct = suspect_above_pct);

}  // namespace assay
