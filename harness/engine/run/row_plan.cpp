#include "harness/engine/run/row_plan.h"

#include "harness/base/error.h"
#include "harness/gpu/gpu.h"
#include "harness/op/op.h"
#include "harness/op/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <vector>

namespace assay {
namespace {

std::vector<std::string> names_of(std::span<const TensorSpec> tensors) {
  std::vector<std::string> names;
  for (const TensorSpec& spec : tensors) names.push_back(spec.name);
  return names;
}

RowProgram program_of_impl(const Impl& impl, const Case& test_case, const BuildContext& context) {
  RowProgram made{.impl = &impl, .program = {}, .unit_error = {}, .unsupported = missing_for(impl, context)};
  if (made.unsupported) return made;
  made.ceiling = ceiling_of(impl, context);
  made.program = impl.build(context);
  if (impl.unit_error) made.unit_error = impl.unit_error(context);
  if (const auto broken = broken_setup_rule(*made.program, context.tensors)) {
    throw Error(fmt::format("building impl '{}' of op '{}': {}", impl.name, test_case.op->name, *broken));
  }
  made.unsupported = gpu::unsupported(*made.program, physical_tensors(test_case), impl.needs, context.device,
                                      gpu::guard_bytes, names_of(test_case.tensors));
  return made;
}

/// The kernels of a case that can run. A case that cannot has none; its row reports why.
std::set<gpu::KernelName> kernels_of(const Case& test_case, const DeviceInfo& device) try {
  std::set<gpu::KernelName> kernels;
  const RowProgram made = row_program(test_case, device);
  if (!made.program || made.unsupported) return kernels;
  for (const Dispatch& dispatch : made.program->dispatches) kernels.insert(gpu::kernel_of(dispatch));
  return kernels;
} catch (const std::exception&) {
  return {};
}

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

RowProgram row_program(const Case& test_case, const DeviceInfo& device) {
  if (test_case.conv2d.awaits_device) {
    throw std::logic_error(
        fmt::format("building the program of {}: CONV2D has not been replaced for the device (DeviceCases)",
                    test_case.id));
  }
  const BuildContext context{test_case.params, test_case.tensors, test_case.forms, device, test_case.tune};
  std::optional<RowProgram> first;
  for (const Impl* impl : candidates(*test_case.op, *test_case.impl, context)) {
    const Tune tune = tune_for(test_case, *impl);
    const BuildContext tuned(test_case.params, test_case.tensors, test_case.forms, device, tune);
    if (impl->invalid_reason && impl->invalid_reason(tuned)) continue;
    RowProgram made = program_of_impl(*impl, test_case, tuned);
    if (!made.unsupported) return made;
    if (first) continue;
    first = std::move(made);
    if (impl != test_case.impl) first->unsupported = impl->name + ": " + *first->unsupported;
  }
  if (first) return *std::move(first);
  return {.impl = test_case.impl,
          .program = {},
          .unit_error = {},
          .unsupported = "every impl that it may choose excludes this point"};
}

std::set<gpu::KernelName> kernels_of(std::span<const PlannedGroup> groups, const DeviceInfo& device) {
  std::set<const Case*> seen;
  std::set<gpu::KernelName> all;
  for (const PlannedGroup& group : groups) {
    for (const PlannedRow& row : group) {
      if (row.test_case->invalid || !seen.insert(row.test_case).second) continue;
      all.merge(kernels_of(*row.test_case, device));
    }
  }
  return all;
}

RowPlan plan_of_case(const Case& test_case, const DeviceInfo& device) {
  RowPlan plan;
  if (test_case.invalid) {
    plan.not_run = {Status::Invalid, *test_case.invalid};
    return plan;
  }
  if (const auto why = why_skipped(test_case, device)) {
    plan.not_run = {Status::Skipped, *why};
    return plan;
  }
  std::optional<Outcome> unsupported;
  const auto failure = outcome_of([&] {
    plan.made = row_program(test_case, device);
    if (plan.made.unsupported) unsupported = Outcome{Status::Unsupported, *plan.made.unsupported};
  });
  plan.not_run = failure ? failure : unsupported;
  return plan;
}

RowPlan plan_of_row(const PlannedRow& row, const RowInfo& info, const DeviceContext& context,
                    const Ceilings& ceilings) {
  const Case& test_case = *row.test_case;
  const Expectation* rule = test_case.invalid ? nullptr : context.skip_of(info);
  if (rule != nullptr) return {.made = {}, .not_run = Outcome{Status::Skipped, rule->why()}};
  RowPlan plan = plan_of_case(test_case, context.device.info());
  if (plan.not_run) return plan;
  std::optional<Outcome> skipped;
  const auto failure = outcome_of([&] {
    const double limit_s = context.options.rows.program_limit_s;
    if (const auto slow = too_slow(row, plan.made.ceiling, ceilings, limit_s))
      skipped = Outcome{Status::Skipped, *slow};
  });
  plan.not_run = failure ? failure : skipped;
  return plan;
}

}  // namespace assay
