#include "harness/report/compare/ceiling_changes.h"

#include "harness/base/statistics.h"
#include "harness/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

namespace assay {
namespace {

struct Rate {
  std::string_view what;
  std::function<double(const Ceilings&)> value;
  std::string_view unit;
  bool is_ceiling = true;
};

double far_copy(const Ceilings& ceilings) {
  return ceilings.bandwidth.empty() ? 0 : ceilings.bandwidth.back().copy_gbps;
}

std::array<Rate, 7> rates() {
  return {{
      {"ceiling bandwidth", far_copy, " GB/s"},
      {"ceiling fp32", [](const Ceilings& c) { return c.fp32_gops; }, " GOP/s"},
      {"ceiling fp16", [](const Ceilings& c) { return c.fp16_gops; }, " GOP/s"},
      {"ceiling dot4x8", [](const Ceilings& c) { return c.dot4x8_gops; }, " GOP/s"},
      {"ceiling coop_int8", [](const Ceilings& c) { return c.coop_int8_gops; }, " GOP/s"},
      {"ceiling coop_fp16", [](const Ceilings& c) { return c.coop_fp16_gops; }, " GOP/s"},
      {"dispatch spacing", [](const Ceilings& c) { return c.dispatch_us; }, " us", false},
  }};
}

std::string rate_text(double value, std::string_view unit) {
  if (!(value > 0)) return "not measured";
  return (value < 1e4 ? significant(value, 4) : fixed(value, 0)) + std::string(unit);
}

/// The median over the runs that measured it; 0: none did.
double median_rate(const Rate& rate, std::span<const Ceilings* const> runs) {
  std::vector<double> values;
  for (const Ceilings* ceilings : runs) {
    if (const double value = rate.value(*ceilings); value > 0) values.push_back(value);
  }
  return values.empty() ? 0 : median(std::move(values));
}

}  // namespace

std::vector<CeilingChange> ceiling_changes(const Ceilings& before, const Ceilings& now, double share) {
  const Ceilings *const one = &before, *const other = &now;
  return ceiling_changes({&one, 1}, {&other, 1}, share);
}

std::vector<CeilingChange> ceiling_changes(std::span<const Ceilings* const> before,
                                           std::span<const Ceilings* const> now, double share) {
  std::vector<CeilingChange> changes;
  for (const Rate& rate : rates()) {
    const double was = median_rate(rate, before), is = median_rate(rate, now);
    if (std::abs(was - is) <= share * std::max(was, is)) continue;
    const bool has_both = was > 0 && is > 0;
    changes.push_back({std::string(rate.what), rate_text(was, rate.unit), rate_text(is, rate.unit),
                       has_both ? 100 * (is / was - 1) : 0, has_both && rate.is_ceiling ? was / is : 0});
  }
  return changes;
}

}  // namespace assay
