#include "harness/cases/describe/reachable_programs.h"

#include "harness/base/error.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace assay {
namespace {

using Tune = std::map<std::string, std::int64_t>;

/// A parameter set of an op with the tunings of its impls, which always include the default tuning.
struct Point {
  Params params;
  std::map<const Impl*, std::set<Tune>> tunes;
};

std::vector<Point> points_of(const Op& op, std::span<const Case> cases) {
  std::map<std::string, Point> points;
  for (const Case& test_case : cases) {
    if (test_case.op != &op) continue;
    Point& point = points[test_case.params->canonical()];
    point.params = test_case.params;
    point.tunes[test_case.impl].insert(test_case.tune);
  }
  std::vector<Point> all;
  for (auto& [text, point] : points) {
    for (const Impl& impl : op.impls) point.tunes[&impl].insert(Tune{});
    all.push_back(std::move(point));
  }
  return all;
}

bool can_hold(Form form, const TensorSpec& tensor) {
  try {
    const Physical physical(form, tensor.dtype, tensor.shape);
    return true;
  } catch (const Error&) {
    return false;  // for example, a 2D texture has one slice
  }
}

/// Calls `use` with each combination of forms that can hold the tensors and begins with `chosen`.
void each_forms(std::span<const TensorSpec> tensors, std::vector<Form>& chosen,
                const std::function<void(std::span<const Form>)>& use) {
  if (chosen.size() == tensors.size()) {
    use(chosen);
    return;
  }
  const TensorSpec& tensor = tensors[chosen.size()];
  for (const Form form : tensor.forms) {
    if (!can_hold(form, tensor)) continue;
    chosen.push_back(form);
    each_forms(tensors, chosen, use);
    chosen.pop_back();
  }
}

void each_program_of_point(const Op& op, const Point& point, std::span<const DeviceInfo> devices,
                           const UseProgram& use) {
  const std::vector<TensorSpec> tensors = op.tensors(point.params);
  std::vector<Form> chosen;
  each_forms(tensors, chosen, [&](std::span<const Form> forms) {
    for (const Impl& impl : op.impls) {
      if (!impl.build) continue;
      for (const Tune& tune : point.tunes.at(&impl)) {
        const ImplPoint here{point.params, tensors, forms, tune};
        if (impl.invalid_reason && impl.invalid_reason(here)) continue;
        for (const DeviceInfo& device : devices) {
          const BuildContext context(here, device);
          if (!missing_for(impl, context)) use(impl.build(context), context);
        }
      }
    }
  });
}

}  // namespace

void each_reachable_program(const Op& op, std::span<const Case> cases, std::span<const DeviceInfo> devices,
                            const UseProgram& use) {
  for (const Point& point : points_of(op, cases)) each_program_of_point(op, point, devices, use);
}

std::vector<DeviceInfo> contrasting_devices() {
  DeviceInfo bare;
  bare.type = "discrete";
  DeviceInfo rich = bare;
  for (int i = 0; i <= static_cast<int>(Feature::CooperativeMatrixNv); ++i) {
    rich.features.push_back(static_cast<Feature>(i));
  }
  rich.dot_product_accelerated = true;
  rich.max_workgroup_size = {1024, 1024, 64};
  rich.max_workgroup_invocations = 1024;
  rich.max_shared_bytes = 49152;
  rich.max_push_constant_bytes = 256;
  rich.subgroup_size = rich.min_subgroup_size = rich.max_subgroup_size = 32;
  rich.max_workgroup_subgroups = 32;
  rich.vendor_id = 0x10de;  // for DeviceInfo::places_matrices()
  rich.cooperative_shapes = {{16, 16, 32, DType::I8, DType::I32, MatrixExtension::Khr},
                             {16, 16, 16, DType::F16, DType::F32, MatrixExtension::Khr},
                             {16, 8, 16, DType::F16, DType::F32, MatrixExtension::Khr}};
  DeviceInfo several_sizes = rich;
  several_sizes.cooperative_shapes = {{16, 16, 32, DType::I8, DType::I32},
                                      {16, 16, 16, DType::F16, DType::F32}};
  several_sizes.subgroup_size = 64;
  several_sizes.max_subgroup_size = 64;
  DeviceInfo cpu = bare;
  cpu.type = "cpu";
  DeviceInfo rich_cpu = rich;
  rich_cpu.type = "cpu";
  rich_cpu.subgroup_size = rich_cpu.min_subgroup_size = rich_cpu.max_subgroup_size = 8;
  return {bare, rich, several_sizes, cpu, rich_cpu};
}

}  // namespace assay
