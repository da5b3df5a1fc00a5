#include "harness/engine/timing/repetition.h"

#include "harness/base/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace assay {
namespace {

constexpr double times_longer = 1.5;
constexpr double times_longer_on_cpu = 3;
constexpr double times_on_known_data = 1.25;
constexpr double times_on_known_data_on_cpu = 2;
constexpr double units_at_least = 50;     // the minimum length, in units of the timer
constexpr double spacings_at_least = 10;  // the minimum length per dispatch, in dispatch spacings

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The time to move that many bytes from and to memory beyond the caches.
double moving_us(std::int64_t bytes, const Ceilings& ceilings) {
  const double gbps = bandwidth_gbps(ceilings, std::numeric_limits<std::uint64_t>::max(), 0.5);
  return gbps > 0 ? static_cast<double>(bytes) / gbps / ns_per_us : 0;
}

}  // namespace

Repetition repetition_of(std::span<const double> isolated_ns, std::span<const double> batches_ns) {
  return {.isolated_us = mean(isolated_ns) / ns_per_us, .batch_us = mean(batches_ns) / ns_per_us};
}

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

DataTimes data_times_of(std::span<const double> own_ns, std::span<const double> secret_ns) {
  return {.own_us = mean(own_ns) / ns_per_us, .secret_us = std::ranges::min(secret_ns) / ns_per_us};
}

std::string faster_on_known_data(const DataTimes& found) {
  const double factor = found.is_cpu ? times_on_known_data_on_cpu : times_on_known_data;
  if (found.secret_us <= factor * found.own_us) return "";
  return fmt::format(
      "faster on known data: {:.4g} us on the row's own data, {:.4g} us on secret data of the same kind: the "
      "shader seems to know answers",
      found.own_us, found.secret_us);
}

}  // namespace assay
