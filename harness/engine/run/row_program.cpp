#include "harness/engine/run/row_program.h"

#include "harness/base/error.h"
#include "harness/gpu/gpu.h"
#include "harness/op/setup_rules.h"

#include <fmt/format.h>

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
    if (impl->invalid_reason && impl->invalid_reason(context)) continue;
    RowProgram made = program_of_impl(*impl, test_case, context);
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

}  // namespace assay
