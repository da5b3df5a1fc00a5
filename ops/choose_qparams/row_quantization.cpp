#include "ops/choose_qparams/row_quantization.h"

#include "ops/choose_qparams/choose.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

namespace assay::ops {
namespace {

constexpr std::int64_t quad = 4;
constexpr std::int64_t most_kept = 16;  // MOST_KEPT of shaders/choose_qparams/quantize_dynamic.comp

constexpr std::int64_t least_columns = 8;  // neighbouring invocations of a row write 32 bytes together
constexpr std::int64_t kept_of_few = 4;
constexpr std::int64_t kept_of_many = 8;
constexpr std::int64_t most_columns = 512;
// The most rows that leave a large device idle unless many invocations work on each.
constexpr std::int64_t few_rows = 512;
constexpr std::int64_t smallest_workgroup = 128;

// The words of push_constants() as the shader bakes them: all except its divider and eps.
constexpr std::array<std::string_view, 8> baked_words{"tokens", "width",     "height",    "",
                                                      "",       "quant_min", "quant_max", ""};

/// The rows of x, and how the invocations of a dispatch share them.
struct Sharing {
  std::int64_t rows, width, height;  ///< height: rows of a texture's slice
  std::int64_t columns, local;       ///< invocations per row and per workgroup

  std::int64_t quads() const { return div_up(width, quad); }
  /// Quads that an invocation keeps. A row that begins inside a quad may touch one more quad.
  std::int64_t kept() const {
    return std::min(div_up(quads() + (width % quad == 0 ? 0 : 1), columns), most_kept);
  }
  /// Whether every row is exactly `kept` quads per invocation, and every one of `invocations` has a share of
  /// a row.
  bool is_complete(std::int64_t invocations) const {
    return width % quad == 0 && kept() * columns == quads() && invocations == rows * columns;
  }
};

std::int64_t columns_of(const RowQuantization& quantization, std::int64_t rows, std::int64_t quads,
                        std::int64_t most) {
  const std::int64_t each = rows <= few_rows ? kept_of_few : kept_of_many;
  const std::int64_t wanted = std::clamp(power_of_two_from(div_up(quads, each)),
                                         std::min(power_of_two_from(quads), least_columns), most_columns);
  const std::int64_t asked = quantization.columns != 0 ? quantization.columns : wanted;
  return power_of_two_within(std::min(asked, most));
}

Sharing sharing_of(const RowQuantization& quantization, const DeviceInfo& device) {
  const Physical& x = quantization.x.physical;
  const Dims dims = x.dims();
  const std::int64_t most = most_invocations(device);
  Sharing sharing{.rows = dims.n * dims.c * dims.h, .width = dims.w, .height = dims.h};
  sharing.columns = columns_of(quantization, sharing.rows, sharing.quads(), most);
  sharing.local = std::max(sharing.columns, std::min(smallest_workgroup, most));
  return sharing;
}

std::vector<Define> defines_of(const RowQuantization& quantization) {
  const Physical& x = quantization.x.physical;
  const Physical& q = quantization.q.physical;
  std::vector<Define> defines{{"REAL_F16", flag(x.dtype() == DType::F16)},
                              {"QUANT_I32", flag(q.dtype() == DType::I32)},
                              {"GIVEN", flag(!quantization.rule)},
                              texture_define(x.form())};
  if (quantization.rule) defines.push_back({"RULE", rule_define(*quantization.rule)});
  if (!is_texture(x.form())) {
    defines.push_back({"WHOLE_ROWS", flag(x.dims().w % quad == 0)});
    defines.push_back({"WHOLE_QUADS", flag(x.elements() % quad == 0)});
  } else {
    defines.push_back({"QUANT_U8", flag(q.dtype() == DType::U8)});
    defines.push_back({"Q_WORDS", flag(!is_texture(q.form()))});
  }
  return defines;
}

PushConstants push_constants(const Sharing& sharing, const references::QParamsLimits& limits) {
  PushConstants push;
  push.add(sharing.rows).add(sharing.width).add(sharing.height);
  add(push, divider(sharing.height));
  push.add(static_cast<float>(limits.quant_min)).add(static_cast<float>(limits.quant_max)).add(limits.eps);
  return push;
}

}  // namespace

Dispatch row_quantization(const RowQuantization& quantization, const DeviceInfo& device) {
  const Sharing sharing = sharing_of(quantization, device);
  const bool chooses = quantization.rule.has_value();
  Dispatch dispatch{.label = "quantize_dynamic", .shader = "quantize_dynamic.comp"};
  dispatch.defines = defines_of(quantization);
  dispatch.local_size = {static_cast<std::uint32_t>(sharing.local), 1, 1};
  dispatch.workgroups =
      fold_grid(sharing.rows * sharing.columns, dispatch.local_size[0], device.max_workgroup_count[0]);
  const std::int64_t invocations = sharing.local * dispatch.workgroups[0] * dispatch.workgroups[1];
  dispatch.constants = {{"column_bits", static_cast<std::uint32_t>(
                                            std::countr_zero(static_cast<std::uint64_t>(sharing.columns)))},
                        {"kept", static_cast<std::uint32_t>(sharing.kept())},
                        {"complete", sharing.is_complete(invocations) ? 1U : 0U}};
  dispatch.push = push_constants(sharing, quantization.limits);
  bake(dispatch, baked_words, quantization.bakes_sizes);
  if (chooses) {
    use_subgroups(dispatch, device);
    const bool once = quantization.once.value_or(sharing.rows > few_rows);
    dispatch.constants.push_back({"once", once ? 1U : 0U});
    dispatch.shared_bytes =
        static_cast<std::uint32_t>(sharing.local * 8 + sharing.local / sharing.columns * 8);
  }
  dispatch.bindings = {quantization.x.resource, quantization.scale, quantization.zero_point,
                       quantization.q.resource};
  return dispatch;
}

}  // namespace assay::ops
