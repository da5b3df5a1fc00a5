#include "ops/common/grid.h"
#include "ops/convolution/impls.h"
#include "ops/convolution/product.h"
#include "ops/linear/coopmat.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace assay::ops {
namespace {

using references::Convolution;

constexpr LinearKind of_int8{XKind::Int8, WeightKind::Int8};
// Workgroups that keep a large device (132 processors) busy, and those that are all of it at a time.
constexpr std::int64_t busy_workgroups = 96, workgroups_at_a_time = 264;

constexpr std::array<const char*, 8> sizes{"tile_m",     "tile_n",      "tile_k", "subgroup_m",
                                           "subgroup_n", "subgroups_k", "splits", "stages"};

bool tunes_sizes(const BuildContext& context) {
  return std::ranges::any_of(sizes, [&](const char* name) { return context.tune.contains(name); });
}

/// As is fast on a H200 (shaders/NOTES.md) for groups of few or many output channels.
Tune fast_sizes(const Gathering& gathering) {
  const auto tiles = [&gathering](std::int64_t m, std::int64_t n) {
    return div_up(gathering.conv.pixels_of_y(), m) * gathering.tiles(n);
  };
  const std::int64_t n =
      std::clamp(power_of_two_from(gathering.outputs_of_group), std::int64_t{16}, std::int64_t{128});
  const std::int64_t k =
      std::clamp(power_of_two_from(gathering.depth()), std::int64_t{32}, std::int64_t{128});
  if (tiles(128, n) >= busy_workgroups) {
    return {{"tile_m", 128},
            {"tile_n", n},
            {"tile_k", k},
            {"subgroup_m", 32},
            {"subgroup_n", std::min<std::int64_t>(n, 32)}};
  }
  const std::int64_t small = std::min<std::int64_t>(n, 64);
  if (tiles(64, small) >= busy_workgroups / 2) {
    return {{"tile_m", 64},
            {"tile_n", small},
            {"tile_k", k},
            {"subgroup_m", 32},
            {"subgroup_n", std::min<std::int64_t>(n, 32)}};
  }
  const std::int64_t least = std::min<std::int64_t>(n, 32);
  const std::int64_t splits = std::clamp(workgroups_at_a_time / tiles(32, least), std::int64_t{1},
                                         div_up(gathering.depth(), std::int64_t{512}));
  return {{"tile_m", 32},        {"tile_n", least},       {"tile_k", k},     {"subgroup_m", 16},
          {"subgroup_n", least}, {"subgroups_k", k / 32}, {"splits", splits}};
}

Tune tune_of(const BuildContext& context, const Gathering& gathering) {
  const bool plain = context.tuned("plain", has_matrices(context.device, of_int8) ? 0 : 1) != 0;
  if (plain || tunes_sizes(context)) return context.tune;
  Tune tune = fast_sizes(gathering);
  tune.insert(context.tune.begin(), context.tune.end());
  return tune;
}

LinearPoint linear_of(const BuildContext& context, const Gathering& gathering) {
  return {context, integer_images_form(context), gathering.depth(), tune_of(context, gathering)};
}

Program build(const BuildContext& context) {
  const Gathering gathering(references::checked_convolution(context.params));
  const LinearPoint linear = linear_of(context, gathering);
  Program program;
  const TensorAt x = integer_images(program, context);
  const Resource w = weight_rows(program, context, gathering, gathering.depth());
  append(program, coopmat_convolution(linear.on(context.device), of_int8, {.x = &gathering}),
         linear.resources(x.resource, w));
  return program;
}

std::optional<std::string> excludes(const ImplPoint& point) {
  if (auto reason = any_too_large(point.tensors, point.forms)) return reason;
  return coopmat_excludes_tune(point);
}

std::optional<std::string> lacks(const BuildContext& context) {
  const Gathering gathering(references::checked_convolution(context.params));
  return coopmat_convolution_lacks(linear_of(context, gathering).on(context.device), of_int8);
}

}  // namespace

Impl implicit_convolution(std::string name) {
  Impl impl{.name = std::move(name)};
  impl.summary = "subgroups multiply matrices of int8, gathered while they are staged";
  impl.ceiling = Ceiling::CoopInt8;
  impl.tunables = coopmat_tunables();
  impl.build = build;
  impl.excludes = excludes;
  impl.lacks = lacks;
  impl.conv2d_layout = Layout::P4C;
  impl.unit_error = [](const BuildContext&) { return gamma_of(5); };
  return impl;
}

}  // namespace assay::ops
