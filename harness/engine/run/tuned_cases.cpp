#include "harness/engine/run/tuned_cases.h"

#include "harness/engine/run/row_plan.h"

#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace assay {
namespace {

/// The impl that computes the case on the device with the built-in defaults; null: none can.
const Impl* impl_on(const Case& test_case, const DeviceInfo& device) {
  const RowPlan plan = plan_of_case(test_case, device);
  return plan.not_run ? nullptr : plan.made.impl;
}

/// The entry's values for tunables that the case does not set.
Tune open_values(const TuningEntry& entry, const Case& test_case) {
  Tune open;
  for (const auto& [name, value] : entry.tune) {
    if (!test_case.tune.contains(name)) open[name] = value;
  }
  return open;
}

bool runs_with(const Case& tuned, const Impl& impl, const DeviceInfo& device) {
  const Tune tune = tune_for(tuned, impl);
  if (impl.invalid_reason && impl.invalid_reason(ImplPoint{tuned.params, tuned.tensors, tuned.forms, tune}))
    return false;
  return impl_on(tuned, device) == &impl;
}

std::optional<Case> tuned_case(const Case& test_case, const DeviceInfo& device, const Tuning& tuning) try {
  if (!tuning.has_op(test_case.op->name)) return std::nullopt;
  const Impl* impl = impl_on(test_case, device);
  const TuningEntry* entry = impl == nullptr ? nullptr : tuning.find(test_case, *impl);
  if (entry == nullptr) return std::nullopt;
  Tune open = open_values(*entry, test_case);
  if (open.empty()) return std::nullopt;
  Case tuned = test_case;
  tuned.tuned = std::make_shared<const TunedDefaults>(
      TunedDefaults{.impl = impl, .values = std::move(open), .line = entry->line});
  return runs_with(tuned, *impl, device) ? std::optional(std::move(tuned)) : std::nullopt;
} catch (const std::exception&) {
  return std::nullopt;  // what fails here without the entry fails again when the row is planned, and is told
}

}  // namespace

TunedCases::TunedCases(std::span<const Case* const> cases, const DeviceInfo& device, const Tuning* tuning) {
  for (const Case* test_case : cases) {
    std::optional<Case> tuned;
    if (tuning != nullptr) tuned = tuned_case(*test_case, device, *tuning);
    all_.push_back(tuned ? &tuned_.emplace_back(*std::move(tuned)) : test_case);
  }
}

}  // namespace assay
