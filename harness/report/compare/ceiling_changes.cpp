#include "harness/report/compare/ceiling_changes.h"

#include "harness/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>

namespace assay {
namespace {

struct Rate {
  std::string_view what;
  std::function<double(const Ceilings&)> value;
  std::string_view unit;
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
      {"dispatch spacing", [](const Ceilings& c) { return c.dispatch_us; }, " us"},
  }};
}

std::string rate_text(double value, std::string_view unit) {
  return value > 0 ? significant(value, 4) + std::string(unit) : "not measured";
}

}  // namespace

std::vector<CeilingChange> ceiling_changes(const Ceilings& before, const Ceilings& now, double share) {
  std::vector<CeilingChange> changes;
  for (const Rate& rate : rates()) {
    const double was = rate.value(before), is = rate.value(now);
    if (std::abs(was - is) <= share * std::max(was, is)) continue;
    changes.push_back({std::string(rate.what), rate_text(was, rate.unit), rate_text(is, rate.unit),
                       was > 0 && is > 0 ? 100 * (is / was - 1) : 0});
  }
  return changes;
}

}  // namespace assay
