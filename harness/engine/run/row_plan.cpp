#include "harness/engine/run/row_plan.h"

#include "harness/op/roofline.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

/// Why the row would exceed its time limit even at the device's ceilings, if those are known.
std::optional<std::string> too_slow(const PlannedRow& row, Ceiling ceiling, const Ceilings& ceilings,
                                    double program_limit_s) {
  const Case& test_case = *row.test_case;
  const Work work = test_case.op->work(test_case.params, test_case.tensors);
  const LeastTime least = least_time(ceilings, work, {.cache = row.cache, .ceiling = ceiling});
  const double own_s = test_case.timeout_s;
  const double limit_s = std::min(program_limit_s, own_s);
  if (least.seconds <= limit_s) return std::nullopt;
  return fmt::format("needs at least {:.3g} s per program on this device: {}; the limit is {:g} s ({})",
                     least.seconds, least.because, limit_s,
                     own_s == limit_s ? "the case's timeout" : "--program-limit");
}

/// What the run was not given although the impl needs it.
std::optional<std::string> why_skipped(const Case& test_case, const DeviceInfo& device) {
  if (!test_case.impl->skipped_reason) return std::nullopt;
  return test_case.impl->skipped_reason(
      BuildContext(test_case.params, test_case.tensors, test_case.forms, device, test_case.tune));
}

}  // namespace

RowPlan plan_of_row(const PlannedRow& row, const RowInfo& info, const DeviceContext& context,
                    const Ceilings& ceilings) {
  RowPlan plan;
  const Case& test_case = *row.test_case;
  if (test_case.invalid) {
    plan.not_run = {Status::Invalid, *test_case.invalid};
    return plan;
  }
  if (const Expectation* rule = context.skip_of(info)) {
    plan.not_run = {Status::Skipped, rule->why()};
    return plan;
  }
  if (const auto why = why_skipped(test_case, context.device.info())) {
    plan.not_run = {Status::Skipped, *why};
    return plan;
  }
  std::optional<Outcome> reason;
  const auto failure = outcome_of([&] {
    plan.made = row_program(test_case, context.device.info());
    if (plan.made.unsupported) {
      reason = Outcome{Status::Unsupported, *plan.made.unsupported};
    } else if (const auto slow =
                   too_slow(row, plan.made.ceiling, ceilings, context.options.rows.program_limit_s)) {
      reason = Outcome{Status::Skipped, *slow};
    }
  });
  plan.not_run = failure ? failure : reason;
  return plan;
}

}  // namespace assay
