#include "harness/engine/run/tuned_rows.h"

#include "harness/engine/run/row_plan.h"

#include <algorithm>
#include <exception>
#include <map>
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

/// The values of an entry were measured together: with another value for one of them they are a guess.
bool sets_one_of(const Case& test_case, const Tune& tune) {
  return std::ranges::any_of(tune, [&](const auto& one) { return test_case.tune.contains(one.first); });
}

bool runs_with(const Case& tuned, const Impl& impl, const DeviceInfo& device) {
  const Tune tune = tune_for(tuned, impl);
  if (impl.invalid_reason && impl.invalid_reason(ImplPoint{tuned.params, tuned.tensors, tuned.forms, tune}))
    return false;
  return impl_on(tuned, device) == &impl;
}

std::optional<Case> tuned_case(const Case& test_case, Cache cache, const DeviceInfo& device,
                               const Tuning& tuning) try {
  if (!tuning.has_op(test_case.op->name)) return std::nullopt;
  const Impl* impl = impl_on(test_case, device);
  const TuningEntry* entry = impl == nullptr ? nullptr : tuning.find(test_case, cache, *impl);
  if (entry == nullptr || sets_one_of(test_case, entry->tune)) return std::nullopt;
  Case tuned = test_case;
  tuned.tuned = std::make_shared<const TunedDefaults>(
      TunedDefaults{.impl = impl, .values = entry->tune, .line = entry->line});
  return runs_with(tuned, *impl, device) ? std::optional(std::move(tuned)) : std::nullopt;
} catch (const std::exception&) {
  return std::nullopt;  // what fails here without the entry fails again when the row is planned, and is told
}

}  // namespace

TunedRows::TunedRows(std::vector<PlannedGroup> groups, const DeviceInfo& device, const Tuning* tuning)
    : groups_(std::move(groups)) {
  if (tuning == nullptr) return;
  std::map<std::pair<const Case*, Cache>, const Case*> made;  // a row with other shaders has the same case
  for (PlannedGroup& group : groups_) {
    for (PlannedRow& row : group) {
      if (row.mode != Mode::Perf) continue;
      const auto [at, is_new] = made.try_emplace({row.test_case, row.cache}, row.test_case);
      if (is_new) {
        if (std::optional<Case> tuned = tuned_case(*row.test_case, row.cache, device, *tuning))
          at->second = &tuned_.emplace_back(*std::move(tuned));
      }
      row.test_case = at->second;
    }
  }
}

}  // namespace assay
