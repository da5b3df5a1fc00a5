#include "ops/linear/quantize_rows.h"

#include "ops/choose_qparams/row_quantization.h"
#include "ops/common/bake.h"
#include "ops/linear/tensors.h"

namespace assay::ops {
namespace {

using references::Linear;

constexpr Form buffer{Storage::Buffer, Layout::WP};

// A product of this few rows takes hardly longer than its start, so the sizes are built into its program.
// Programs for more rows are shared by all shapes.
constexpr std::int64_t rows_that_wait_for_constants = 16;

/// The op's own x_scale and x_zero_point, or scratch where they are chosen.
QuantizedRows resources_of(Program& program, const BuildContext& context, const Linear& linear, bool given) {
  QuantizedRows rows;
  rows.values =
      add_scratch(program, {"x_values", DType::I8, linear.x_shape(), {Storage::Buffer, Layout::P4W}});
  if (given) {
    rows.scale = tensor_named(context, "x_scale").resource;
    rows.zero_point = tensor_named(context, "x_zero_point").resource;
  } else {
    rows.scale = add_scratch(program, {"x_scale", DType::F32, linear.row_shape(), buffer});
    rows.zero_point = add_scratch(program, {"x_zero_point", DType::I32, linear.row_shape(), buffer});
  }
  return rows;
}

}  // namespace

QuantizedRows quantize_rows(Program& program, const BuildContext& context, const Linear& linear) {
  const bool given = find_tensor(context.tensors, "x_scale").has_value();
  const QuantizedRows rows = resources_of(program, context, linear, given);
  const Physical values({Storage::Buffer, Layout::P4W}, DType::I8, linear.x_shape());
  RowQuantization quantization{.x = tensor_named(context, "x"), .q = {rows.values, values}};
  quantization.scale = rows.scale;
  quantization.zero_point = rows.zero_point;
  if (!given) quantization.rule = references::QParamsRule::PerRow;
  quantization.bakes_sizes = linear.rows() <= rows_that_wait_for_constants && wants_bake(context);
  program.dispatches.push_back(row_quantization(quantization, context.device));
  return rows;
}

}  // namespace assay::ops
