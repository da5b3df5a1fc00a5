#include "harness/engine/timing/repetition.h"

#include "harness/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace assay {
namespace {

constexpr double times_longer = 1.5;
constexpr double times_longer_on_cpu = 3;
constexpr double units_at_least = 50;     // the minimum length, in units of the timer
constexpr double spacings_at_least = 10;  // the minimum length per dispatch, in dispatch spacings

/// The time to move that many bytes from and to memory beyond the caches.
double moving_us(std::int64_t bytes, const Ceilings& ceilings) {
  const double gbps = bandwidth_gbps(ceilings, std::numeric_limits<std::uint64_t>::max(), 0.5);
  return gbps > 0 ? static_cast<double>(bytes) / gbps / ns_per_us : 0;
}

}  // namespace

bool is_long_enough(double isolated_us, int dispatches, const Ceilings& ceilings, double timer_unit_ns) {
  return ceilings.measured() && isolated_us >= units_at_least * timer_unit_ns / ns_per_us &&
         isolated_us >= spacings_at_least * ceilings.dispatch_us * dispatches;
}

std::string faster_when_repeated(const Repetition& found, const Ceilings& ceilings) {
  const double factor = found.is_cpu ? times_longer_on_cpu : times_longer;
  const double explained_us = factor * found.batch_us + moving_us(found.bytes, ceilings) +
                              2 * ceilings.dispatch_us * found.dispatches;
  if (found.isolated_us <= explained_us) return "";
  return fmt::format(
      "faster when repeated: {:.4g} us in a batch, {:.4g} us by itself after programs with other data, where "
      "cold caches and start-up explain up to {:.4g} us: programs in a batch seem to reuse results",
      found.batch_us, found.isolated_us, explained_us);
}

}  // namespace assay
