#include "ops/linear/requantizers.h"

#include "harness/base/error.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/linear/tensors.h"
#include "references/linear/linear_integer.h"

#include <fmt/format.h>

#include <optional>

namespace assay::ops {
namespace {

constexpr std::int64_t quad = 4;
constexpr std::uint32_t local_size = 64;

// A factor m * 2^e, m in [0.5, 1), is shifted by 31 - e; where m rounds to 2^31 units, it counts as 2^(e +
// 1).
constexpr double least_factor = 0x1p-32;                    // shifted by 62
constexpr double first_too_large = 0x1p30 * (1 - 0x1p-32);  // would be shifted by 0

Dispatch dispatch_of(const BuildContext& context, std::int64_t channels, Resource made) {
  const std::int64_t padded = div_up(channels, quad) * quad;
  const std::optional<std::uint32_t> bias = find_tensor(context.tensors, "bias");
  Dispatch dispatch{.label = "requantizers", .shader = "linear_requantizers.comp"};
  dispatch.role = DispatchRole::Setup;
  dispatch.defines = {{"HAS_BIAS", flag(bias.has_value())}};
  dispatch.local_size = {local_size, 1, 1};
  dispatch.workgroups = fold_grid(padded, local_size, context.device.max_workgroup_count[0]);
  dispatch.push.add(channels).add(padded);
  dispatch.push.add(context.params.qparams("x").scale).add(context.params.qparams("y").scale);
  dispatch.bindings = {tensor_named(context, "w_scale").resource, made};
  if (bias) dispatch.bindings.emplace_back(Resource::tensor(*bias));
  return dispatch;
}

}  // namespace

Resource requantizers(Program& program, const BuildContext& context) {
  const std::int64_t channels = numel(tensor_named(context, "w_scale").physical.shape());
  const std::int64_t padded = div_up(channels, quad) * quad;
  const Resource made =
      add_scratch(program, {"requantizers", DType::I32, {3, padded}, {Storage::Buffer, Layout::WP}});
  program.dispatches.push_back(dispatch_of(context, channels, made));
  return made;
}

void check_fixed_point(const Params& params) {
  references::check_fixed_point_activation(params);
  const FillDomain w_scale = weight_scales({1}).domain;
  const double x_over_y = static_cast<double>(params.qparams("x").scale) / params.qparams("y").scale;
  const double least = x_over_y * w_scale.lo, largest = x_over_y * w_scale.hi;
  if (least >= least_factor && largest < first_too_large) return;
  throw ParameterError(
      "y", fmt::format("epilogue fixed_point shifts by 1 to 62 bits, so x.scale * w_scale / y.scale must lie "
                       "between 2^-32 and 2^30; for w_scale from {:g} to {:g} it is {:g} to {:g}",
                       w_scale.lo, w_scale.hi, least, largest));
}

}  // namespace assay::ops
