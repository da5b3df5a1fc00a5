#include "ops/matmul/matmul.h"

#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "ops/common/unit_error.h"
#include "ops/linear/coopmat.h"
#include "ops/linear/tiled.h"
#include "references/linear/linear.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace assay::ops {
namespace {

using references::Linear;
using references::Matmul;
using references::matmul_params;

constexpr Form buffer{Storage::Buffer, Layout::WP};
constexpr Form texture{Storage::Texture3D, Layout::WP};
// The product as the kernels of linear ops see it: of real values. Their int8 weights are only the plainest
// of the kinds that are multiplied without scales of groups.
constexpr LinearKind of_reals{XKind::Real, WeightKind::Int8};

/// The product as a linear op, whose weights are the columns of b.
Linear linear_of(const Matmul& op) {
  Linear linear;
  if (op.batch > 1) linear.batch = {op.batch};
  linear.m = op.m;
  linear.k = op.k;
  linear.n = op.n;
  linear.real = op.dtype;
  return linear;
}

TensorSpec input(std::string name, DType dtype, Shape shape, double most) {
  return {.name = std::move(name),
          .dtype = dtype,
          .shape = std::move(shape),
          .forms = {buffer, texture},
          .domain = {.most = most}};
}

std::vector<TensorSpec> tensors(const Params& params) {
  const Matmul op = matmul_params(params);
  const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
    return params.has("B") ? Shape{op.batch, rows, columns} : Shape{rows, columns};
  };
  std::vector<TensorSpec> all{input("a", op.dtype, matrix(op.m, op.k), references::largest_factor),
                              input("b", op.dtype, matrix(op.k, op.n), references::largest_factor)};
  if (op.has_c) {
    all.push_back(
        input("c", op.dtype, op.c_is_row ? Shape{op.n} : Shape{op.m, op.n}, references::largest_addend));
    if (op.c_is_row) all.back().forms = {buffer};
  }
  TensorSpec y{.name = "y", .role = TensorSpec::Role::Output, .dtype = op.dtype, .shape = matrix(op.m, op.n)};
  y.forms = {buffer, texture};
  y.output_class = OutputClass::Bounded;
  if (op.alpha == 0) {
    y.constant_because = "alpha is 0: y is beta * c";
    y.copy_because = y.constant_because;
  }
  all.push_back(std::move(y));
  return all;
}

/// c is not read where beta is 0.
Work work(const Params& params, std::span<const TensorSpec> tensors) {
  const Matmul op = matmul_params(params);
  std::vector<TensorSpec> used(tensors.begin(), tensors.end());
  std::erase_if(used, [&](const TensorSpec& tensor) { return tensor.name == "c" && !op.reads_c(); });
  Work work = streaming_work(used);
  work.operations = 2 * op.batch * op.m * op.k * op.n;
  return work;
}

/// Gives `product` the bindings, #defines and push constants of shaders/matmul/operands.glslh.
void add_operands(Dispatch& product, const BuildContext& context, const Slots& slots, std::int64_t tiles_n,
                  bool for_halves) {
  const Matmul op = matmul_params(context.params);
  const auto define = [&product](const char* name, bool value) {
    product.defines.push_back({name, flag(value)});
  };
  define("X_F16", op.dtype == DType::F16);
  define("X_ALIGNED", op.k % 4 == 0);
  define("X_EIGHTS", for_halves && op.k % 8 == 0);
  define("Y_ALIGNED", op.n % 4 == 0);
  define("B_EIGHTS", for_halves && op.n % 8 == 0);
  define("READS_C", op.reads_c());
  define("C_IS_ROW", op.c_is_row);
  define("PLANES", op.batch > 1);
  product.defines.push_back(texture_define(context.forms[0]));
  for (std::uint32_t i = 0; i < context.tensors.size(); ++i) {
    const std::string& name = context.tensors[i].name;
    if (name == "c" && !op.reads_c()) continue;
    const std::string place = name == "a" ? "X_AT" : name == "b" ? "B_AT" : name == "c" ? "C_AT" : "Y_AT";
    product.defines.push_back({place, std::to_string(product.bindings.size())});
    product.bindings.push_back(binding_of(context, i));
  }
  PushConstants& push = product.push;
  push.add(op.m).add(slots.all).add(slots.of_plane);
  add(push, divider(slots.of_plane));
  push.add(op.k).add(op.n).add(div_up(op.n, 4)).add(tiles_n);
  add(push, divider(tiles_n));
  push.add(op.alpha).add(op.beta);
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  if (auto reason = mixed_forms(point)) return reason;
  return any_too_large(point.tensors, point.forms);
}

// --- tiled
// ---------------------------------------------------------------------------------------------------

Program build_tiled(const BuildContext& context) {
  const Matmul op = matmul_params(context.params);
  const Tiling tiling = tiling_of(context, linear_of(op), of_reals);
  const Slots slots = slots_of_planes(op.batch, op.m, tiling.m);
  Dispatch product = tiled_product(tiling, slots.all, op.n, context.device);
  product.defines.push_back({"CONV1D", "0"});
  add_operands(product, context, slots, div_up(op.n, tiling.n), false);
  return {.dispatches = {std::move(product)}};
}

std::optional<std::string> tiled_unsupported_reason(const BuildContext& context) {
  const Matmul op = matmul_params(context.params);
  const Linear linear = linear_of(op);
  const Tiling tiling = tiling_of(context, linear, of_reals);
  if (auto reason = slots_unsupported_reason(slots_of_planes(op.batch, op.m, tiling.m))) return reason;
  return tiling_unsupported_reason(tiling, linear, of_reals, context.device);
}

/// Consecutive roundings in an element: a product and a sum for each k, alpha, and the sum with beta * c.
double tiled_unit_error(const BuildContext& context) {
  return gamma_of(matmul_params(context.params).k + 3);
}

// --- coopmat
// -------------------------------------------------------------------------------------------------

CoopmatTiling coopmat_tiling_of(const BuildContext& context) {
  return coopmat_tiling_by_k(context, linear_of(matmul_params(context.params)));
}

Program build_coopmat(const BuildContext& context) {
  const Matmul op = matmul_params(context.params);
  const CoopmatTiling tiling = coopmat_tiling_of(context);
  const Slots slots = slots_of_planes(op.batch, op.m, tiling.m);
  const std::int64_t tiles_n = div_up(op.n, tiling.n);
  Dispatch product{.label = "product", .shader = "matmul_coopmat.comp"};
  add_operands(product, context, slots, tiles_n, true);
  add_tiling(product, tiling, of_reals);
  set_tiling_grid(product, tiling, tiles_n, slots, context.device);
  return {.dispatches = {std::move(product)}};
}

std::optional<std::string> coopmat_invalid_reason(const ImplPoint& point) {
  if (matmul_params(point.params).dtype != DType::F16) {
    return "a and b are f32, which half floats would round: use f16 or another impl";
  }
  if (auto reason = any_texture(point)) return reason;
  if (auto reason = coopmat_tune_invalid_reason(point)) return reason;
  return invalid_reason(point);
}

std::optional<std::string> coopmat_unsupported_reason(const BuildContext& context) {
  if (auto reason = matrices_unsupported_reason(context, of_reals)) return reason;
  const Matmul op = matmul_params(context.params);
  const CoopmatTiling tiling = coopmat_tiling_of(context);
  if (auto reason = slots_unsupported_reason(slots_of_planes(op.batch, op.m, tiling.m))) return reason;
  return tiling_unsupported_reason(tiling, context.device);
}

/// As tiled_unit_error(), the sums of subgroups that share K, and two for the unit's own rounding, which need
/// not be to nearest.
double coopmat_unit_error(const BuildContext& context) {
  return gamma_of(matmul_params(context.params).k + 5 + coopmat_tiling_of(context).subgroups_k);
}

/// Those of the linear ops' kernel, without what only that kernel does.
std::vector<Tunable> coopmat_tunables_by_k() {
  constexpr std::array<std::string_view, 4> of_linear{"stages", "splits", "weights", "bake"};
  std::vector<Tunable> tunables = coopmat_tunables(of_reals);
  std::erase_if(tunables, [&](const Tunable& one) { return std::ranges::count(of_linear, one.name) > 0; });
  return tunables;
}

// --- auto
// ----------------------------------------------------------------------------------------------------

/// Cooperative matrices come first where the device has them and a and b are half floats in buffers.
std::vector<std::string> ranked(const BuildContext& context) {
  const bool is_half = matmul_params(context.params).dtype == DType::F16;
  if (is_half && !is_texture(context.forms[0]) && has_matrices(context.device, of_reals))
    return {"coopmat", "tiled"};
  return {"tiled"};
}

Impl auto_matmul() {
  Impl impl{.name = "auto"};
  impl.summary = "the fastest of the others on the device at hand";
  impl.choose = ranked;
  return impl;
}

}  // namespace

Slots slots_of_planes(std::int64_t planes, std::int64_t rows, std::int64_t tile_m) {
  if (planes == 1) return {rows, rows};
  const std::int64_t of_plane = div_up(rows, tile_m) * tile_m;
  return {planes * of_plane, of_plane};
}

std::optional<std::string> slots_unsupported_reason(const Slots& slots) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (slots.all <= most) return std::nullopt;
  return fmt::format("tiles of y have {} rows in all, which exceeds the {} that this kernel can count",
                     slots.all, most);
}

Dispatch tiled_product(const Tiling& tiling, std::int64_t rows, std::int64_t columns,
                       const DeviceInfo& device) {
  Dispatch product{.label = "product", .shader = "matmul_tiled.comp"};
  product.defines.push_back({"STEPS_AT_ONCE", "4"});
  set_constant(product, "x_loads", div_up(tiling.m / 4 * tiling.k, tiling.invocations()));
  set_constant(product, "w_loads", div_up(tiling.n / 4 * tiling.k, tiling.invocations()));
  add_tiling(product, tiling, of_reals, div_up(rows, tiling.m) * div_up(columns, tiling.n), device);
  return product;
}

Impl tiled_matmul() {
  Impl impl{.name = "tiled"};
  impl.summary = "tiles in shared memory";
  impl.ceiling = Ceiling::Fp32;
  impl.tunables = tiling_tunables(of_reals);
  impl.build = build_tiled;
  impl.invalid_reason = invalid_reason;
  impl.unsupported_reason = tiled_unsupported_reason;
  impl.unit_error = tiled_unit_error;
  return impl;
}

Impl coopmat_matmul() {
  Impl impl{.name = "coopmat"};
  impl.summary = "subgroups multiply cooperative matrices of half floats";
  impl.ceiling = Ceiling::CoopFp16;
  impl.tunables = coopmat_tunables_by_k();
  impl.build = build_coopmat;
  impl.invalid_reason = coopmat_invalid_reason;
  impl.unsupported_reason = coopmat_unsupported_reason;
  impl.unit_error = coopmat_unit_error;
  return impl;
}

Op matmul_op(std::string name, std::string summary, std::vector<ParamSpec> before,
             std::vector<ParamSpec> after) {
  std::vector<ParamSpec> params = std::move(before);
  params.push_back(integer("M").at_least(1).says("rows of a and y"));
  params.push_back(integer("K").at_least(1).says("columns of a, rows of b"));
  params.push_back(integer("N").at_least(1).says("columns of b and y"));
  params.push_back(
      choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says("type of all tensors"));
  std::ranges::move(after, std::back_inserter(params));
  Op op{.name = std::move(name), .summary = std::move(summary), .params = std::move(params)};
  op.tensors = tensors;
  op.reference = references::matmul;
  op.work = work;
  op.impls = {tiled_matmul(), coopmat_matmul(), auto_matmul()};
  return op;
}

}  // namespace assay::ops
