#include "ops/linear/weights.h"

#include "harness/op/op.h"
#include "ops/linear/linear_test_support.h"
#include "ops/linear/tensors.h"

#include <algorithm>
#include <bit>
#include <cmath>

// Compares the packed weights of set-up with the same packed here. The op does nothing else: the scratch of a
// linear op is its outputs.

namespace assay::ops {
namespace {

using namespace test;
using references::Linear;

const Form weights_in_buffer{Storage::Buffer, Layout::WP}, weights_in_texture{Storage::Texture2D, Layout::WP};

Linear weights_linear_of(const Params& params) {
  return references::linear_params(params, references::any_depth);
}

/// How weights are stored, whether they have zero points, and how they are packed.
struct Kind {
  WeightKind w = WeightKind::Int8;
  bool zero_points = false;
  Packing packing = {};
};

TensorSpec output(std::string name, Shape shape, std::vector<Form> forms) {
  TensorSpec spec{.name = std::move(name), .role = TensorSpec::Role::Output, .dtype = DType::I32};
  spec.shape = std::move(shape);
  spec.forms = std::move(forms);
  return spec;
}

std::int64_t depth_of_block(const Kind& kind) {
  return is_int4(kind.w) ? 8 : 4;
}

/// The words along K of a channel, with the zeros between slabs.
std::int64_t words_of(const Linear& linear, const Kind& kind) {
  const Packing& packing = kind.packing;
  const std::int64_t depth =
      packing.padded_depth == 0 ? linear.k : div_up(linear.k, packing.slab_depth) * packing.padded_depth;
  const std::int64_t words = div_up(depth, depth_of_block(kind));
  return packing.by_rows ? 4 * div_up(words, 4) : words;
}

std::vector<TensorSpec> tensors(const Params& params, const Kind& kind) {
  const Linear linear = weights_linear_of(params);
  std::vector<TensorSpec> all{(is_int4(kind.w) ? int4_weights(linear) : int8_weights(linear)).front()};
  if (kind.zero_points) all.push_back(group_zero_points(linear));
  const std::int64_t quads = div_up(linear.n, 4), words = words_of(linear, kind);
  const Shape packed = kind.packing.by_rows ? Shape{4 * quads, words} : Shape{quads, 4 * words};
  all.push_back(output("packed", packed, {weights_in_buffer, weights_in_texture}));
  all.push_back(output("sums", {linear.groups(), 4 * quads}, {weights_in_buffer}));
  return all;
}

/// Reads weights from the tensor of an op.
struct Weights {
  const Linear linear;
  const Kind kind;
  const HostTensor& w;

  /// The stored value: an int8 value, or 0 to 15.
  int stored(std::int64_t n, std::int64_t k) const {
    if (n >= linear.n || k >= linear.k) return is_int4(kind.w) ? 8 : 0;
    const auto at = static_cast<std::size_t>(n * linear.k + k);
    if (!is_int4(kind.w)) return w.as<std::int8_t>()[at];
    const int byte = w.as<std::uint8_t>()[at / 2];
    const bool high = (at % 2 == 0) == (kind.w == WeightKind::Int4HighFirst);
    return high ? byte / 16 : byte % 16;
  }

  /// The value stored at a place along K where zeros lie between slabs.
  int packed(std::int64_t n, std::int64_t place) const {
    const Packing& packing = kind.packing;
    if (packing.padded_depth == 0) return stored(n, place);
    const std::int64_t of_slab = place % packing.padded_depth;
    const std::int64_t slab = place / packing.padded_depth;
    return stored(n, of_slab < packing.slab_depth ? slab * packing.slab_depth + of_slab : linear.k);
  }

  /// The word of channel n for block b. Nibbles 0 to 3 are the low ones; for halves neighbours lie 16 bits
  /// apart.
  std::int32_t word(std::int64_t n, std::int64_t b) const {
    const std::uint32_t bits = is_int4(kind.w) ? 4 : 8;
    std::uint32_t word = 0;
    for (std::uint32_t i = 0; i < 32 / bits; ++i) {
      const auto value =
          static_cast<std::uint32_t>(packed(n, b * depth_of_block(kind) + i)) & ((1U << bits) - 1);
      const std::uint32_t in_order = 8 * (i % 4) + 4 * (i / 4), for_halves = 16 * (i % 2) + bits * (i / 2);
      word |= value << (kind.packing.for_halves ? for_halves : in_order);
    }
    return static_cast<std::int32_t>(word);
  }

  std::int32_t sum(std::int64_t n, std::int64_t group, std::int32_t zero_point) const {
    const std::int64_t size = linear.k / linear.groups();
    std::int32_t sum = 0;
    for (std::int64_t k = group * size; k < (group + 1) * size; ++k)
      sum += stored(n, k) - (is_int4(kind.w) ? 8 + zero_point : 0);
    return sum;
  }
};

std::vector<Expected> reference(const Params& params, std::span<const HostTensor> inputs, const Kind& kind) {
  const Weights weights{weights_linear_of(params), kind, inputs[0]};
  const std::vector<TensorSpec> specs = tensors(params, kind);
  std::vector<Expected> expected;
  for (const TensorSpec& spec : std::span(specs).last(2))
    expected.push_back({.values = HostTensor(spec.dtype, spec.shape)});
  const std::int64_t columns = specs.back().shape[1], blocks = words_of(weights.linear, kind);
  const auto packed = expected[0].values.as<std::int32_t>(), sums = expected[1].values.as<std::int32_t>();
  for (std::int64_t n = 0; n < columns; ++n) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t at = kind.packing.by_rows ? n * blocks + b : (n / 4 * blocks + b) * 4 + n % 4;
      packed[static_cast<std::size_t>(at)] = weights.word(n, b);
    }
    for (std::int64_t g = 0; g < weights.linear.groups(); ++g) {
      const bool has_zero = kind.zero_points && n < weights.linear.n;
      const std::int32_t zero =
          has_zero ? inputs[1].as<std::int32_t>()[static_cast<std::size_t>(g * weights.linear.n + n)] : 0;
      sums[static_cast<std::size_t>(g * columns + n)] = n < weights.linear.n ? weights.sum(n, g, zero) : 0;
    }
  }
  return expected;
}

Program program(const BuildContext& context, const Kind& kind) {
  Program program;
  const PackedWeights weights = packed_weights(program, context, kind.w, kind.packing);
  std::optional<Resource> zero_points;
  if (kind.zero_points) zero_points = padded_table(program, context, "w_zero_point", false);
  const Resource sums = weight_sums(program, context, kind.w, weights, zero_points);
  EXPECT_EQ(broken_setup_rule(program, context.tensors), std::nullopt);
  const auto outputs = static_cast<std::uint32_t>(context.tensors.size() - 2);
  for (Dispatch& dispatch : program.dispatches) {
    for (Binding& binding : dispatch.bindings) {
      if (binding.resource == weights.words) binding.resource = Resource::tensor(outputs);
      if (binding.resource == sums) binding.resource = Resource::tensor(outputs + 1);
    }
  }
  return program;
}

Op weights_op(const Kind& kind) {
  Op op{.name = "weights"};
  op.params = linear_params(is_int4(kind.w) ? std::vector{group_size_param()} : std::vector<ParamSpec>{});
  op.tensors = [kind](const Params& params) { return tensors(params, kind); };
  op.reference = [kind](const Params& params, std::span<const HostTensor> inputs) {
    return reference(params, inputs, kind);
  };
  const auto build = [kind](const BuildContext& context) { return program(context, kind); };
  op.impls = {{.name = "setup", .tunables = {weights_tunable()}, .build = build}};
  return op;
}

class WeightsTest : public LinearTest {
 protected:
  void try_kind(const Kind& kind, const std::vector<Sizes>& all, std::int64_t group_size = 0) {
    const Op op = weights_op(kind);
    for (const Sizes& sizes : all) {
      for (const Form packed : {weights_in_buffer, weights_in_texture}) {
        Trial trial = trial_of(op, "setup", sizes, group_size == 0 ? sizes.k : group_size);
        trial.fill = FillKind::Uniform;
        trial.forms[trial.forms.size() - 2] = packed;
        trial.tune = {{"weights", packed == weights_in_texture ? 1 : 0}};
        expect_right_here(trial);
      }
    }
  }
};

TEST_F(WeightsTest, OfInt8ArePackedAndSummed) {
  try_kind({WeightKind::Int8}, {{1, 1, 1}, {1, 4, 4}, {1, 67, 13}, {1, 128, 33}, {1, 1030, 6}});
}

TEST_F(WeightsTest, OfInt4ArePackedAndSummedInBothOrdersOfNibbles) {
  for (const WeightKind order : {WeightKind::Int4LowFirst, WeightKind::Int4HighFirst}) {
    try_kind({order}, {{1, 8, 1}, {1, 1040, 6}, {1, 136, 13}});
    try_kind({order}, {{1, 192, 5}, {1, 96, 8}}, 96);
    try_kind({order, true}, {{1, 192, 5}, {1, 64, 8}, {1, 640, 13}}, 32);
  }
}

TEST_F(WeightsTest, OfOneChannelLieSideBySideWherePackedByRows) {
  for (const bool for_halves : {false, true}) {
    const Packing by_rows{.by_rows = true, .for_halves = for_halves};
    try_kind({WeightKind::Int8, false, by_rows}, {{1, 1, 1}, {1, 67, 13}, {1, 1030, 6}});
    try_kind({WeightKind::Int4HighFirst, false, by_rows}, {{1, 8, 1}, {1, 136, 13}});
    try_kind({WeightKind::Int4LowFirst, true, by_rows}, {{1, 192, 5}, {1, 640, 13}}, 32);
  }
}

// The zeros are not part of any sum, though their stored value is not 0.
TEST_F(WeightsTest, ZerosLieBetweenSlabs) {
  for (const auto& [group_size, slab, padded] :
       {std::tuple<std::int64_t, std::int64_t, std::int64_t>{24, 24, 32},
        {96, 48, 64},
        {40, 8, 32},
        {8, 8, 32}}) {
    for (const bool by_rows : {false, true}) {
      const Packing packing{
          .by_rows = by_rows, .for_halves = by_rows, .slab_depth = slab, .padded_depth = padded};
      for (const bool zero_points : {false, true}) {
        try_kind({WeightKind::Int4LowFirst, zero_points, packing},
                 {{1, group_size, 1}, {1, 3 * group_size, 5}, {1, 8 * group_size, 13}}, group_size);
      }
    }
  }
}

// Several groups per slab; the last slab has room for more.
TEST_F(WeightsTest, SlabsOfSeveralGroupsAreFilledUpAtTheEndAlone) {
  const Packing packing{.by_rows = true, .slab_depth = 128, .padded_depth = 128};
  try_kind({WeightKind::Int4HighFirst, true, packing}, {{1, 128, 5}, {1, 160, 13}, {1, 352, 4}}, 32);
  try_kind({WeightKind::Int8, false, packing}, {{1, 128, 5}, {1, 131, 13}});
}

/// A table of an op in the form that kernels read.
Op table_op(bool by_quad) {
  Op op{.name = "table"};
  op.params = linear_params({group_size_param()});
  op.tensors = [by_quad](const Params& params) {
    const Linear linear = weights_linear_of(params);
    const std::int64_t quads = div_up(linear.n, 4);
    const Shape shape = by_quad ? Shape{quads, linear.groups(), 4} : Shape{linear.groups(), 4 * quads};
    return std::vector{int4_weights(linear).back(), output("table", shape, {weights_in_buffer})};
  };
  op.reference = [by_quad, tensors = op.tensors](const Params& params, std::span<const HostTensor> inputs) {
    const Linear linear = weights_linear_of(params);
    Expected table{.values = HostTensor(DType::I32, tensors(params).back().shape)};
    for (std::int64_t g = 0; g < linear.groups(); ++g) {
      for (std::int64_t n = 0; n < linear.n; ++n) {
        const std::int64_t at =
            by_quad ? (n / 4 * linear.groups() + g) * 4 + n % 4 : g * 4 * div_up(linear.n, 4) + n;
        table.values.as<std::int32_t>()[static_cast<std::size_t>(at)] =
            std::bit_cast<std::int32_t>(inputs[0].as<float>()[static_cast<std::size_t>(g * linear.n + n)]);
      }
    }
    return std::vector{std::move(table)};
  };
  const auto build = [by_quad](const BuildContext& context) {
    Program program;
    padded_table(program, context, "w_scale", by_quad);
    for (Dispatch& dispatch : program.dispatches) dispatch.bindings.back().resource = Resource::tensor(1);
    return program;
  };
  op.impls = {{.name = "setup", .tunables = {}, .build = build}};
  return op;
}

TEST_F(WeightsTest, TablesAreFilledUpToQuadsAndTurned) {
  for (const Sizes& sizes : {Sizes{1, 64, 13}, {1, 8, 1}, {1, 160, 7}}) {
    for (const bool by_quad : {false, true}) {
      const Op op = table_op(by_quad);
      expect_right_here(trial_of(op, "setup", sizes, 8));
    }
  }
  const Op turned = table_op(true);
  expect_right_here(trial_of(turned, "setup", {1, 64, 12}, 8));
}

TEST_F(WeightsTest, TablesOfWholeQuadsAreTakenAsTheyAre) {
  const Op rows = table_op(false), turned = table_op(true);
  EXPECT_TRUE(program_of(trial_of(rows, "setup", {1, 64, 12}, 8)).dispatches.empty());
  EXPECT_TRUE(program_of(trial_of(turned, "setup", {1, 64, 12}, 64)).dispatches.empty()) << "one group";
}

/// The exponent bits of the factor of one output channel.
std::uint32_t factor_exponent(std::span<const float> scales, const Linear& linear, std::int64_t n) {
  float largest = 0;
  for (std::int64_t g = 0; g < linear.groups(); ++g) {
    const float magnitude = std::fabs(scales[static_cast<std::size_t>(g * linear.n + n)]);
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return std::max(std::bit_cast<std::uint32_t>(largest) >> 23, 12U) - 11;
}

/// The bits of a scale divided by a factor, as a half.
std::uint32_t half_bits(float scale, std::uint32_t factor_exponent) {
  const std::uint32_t sign = std::signbit(scale) ? 0x8000 : 0;
  if (std::isnan(scale)) return sign | 0x7e00;
  if (std::fpclassify(scale) == FP_SUBNORMAL) return sign;
  const Half half = to_half(std::ldexp(scale, 127 - static_cast<int>(factor_exponent)));
  return std::bit_cast<std::uint16_t>(half);
}

std::vector<TensorSpec> half_scales_tensors(const Params& params) {
  const Linear linear = weights_linear_of(params);
  TensorSpec scales = int4_weights(linear).back();
  scales.domain = {};
  const std::int64_t columns = 4 * div_up(linear.n, 4);
  return {scales, output("halves", {linear.groups(), columns}, {weights_in_buffer}),
          output("factors", {columns}, {weights_in_buffer})};
}

std::vector<Expected> half_scales_reference(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = weights_linear_of(params);
  const auto scales = inputs[0].as<float>();
  const std::vector<TensorSpec> specs = half_scales_tensors(params);
  const std::int64_t columns = specs[2].shape[0];
  std::vector<Expected> expected{{.values = HostTensor(DType::I32, specs[1].shape)},
                                 {.values = HostTensor(DType::I32, specs[2].shape)}};
  const auto halves = expected[0].values.as<std::int32_t>(), factors = expected[1].values.as<std::int32_t>();
  for (std::int64_t n = 0; n < columns; ++n) {
    const std::uint32_t exponent = n < linear.n ? factor_exponent(scales, linear, n) : 1;
    factors[static_cast<std::size_t>(n)] = static_cast<std::int32_t>(exponent << 23);
    for (std::int64_t g = 0; g < linear.groups() && n < linear.n; ++g) {
      const std::uint32_t bits = half_bits(scales[static_cast<std::size_t>(g * linear.n + n)], exponent);
      halves[static_cast<std::size_t>(g * columns + n)] = static_cast<std::int32_t>(bits * 0x10001U);
    }
  }
  return expected;
}

Program half_scales_program(const BuildContext& context) {
  Program program;
  const HalfScales made = half_scales(program, context);
  EXPECT_EQ(broken_setup_rule(program, context.tensors), std::nullopt);
  for (Dispatch& dispatch : program.dispatches) {
    for (Binding& binding : dispatch.bindings) {
      if (binding.resource == made.halves) binding.resource = Resource::tensor(1);
      if (binding.resource == made.factors) binding.resource = Resource::tensor(2);
    }
  }
  return program;
}

// Scales of very different sizes and both signs, next to infinities, NaN, zeros and denormals; more groups
// than invocations.
TEST_F(WeightsTest, ScalesBecomeHalvesOfOneFactorAChannel) {
  Op op{.name = "half_scales"};
  op.params = linear_params({group_size_param()});
  op.tensors = half_scales_tensors;
  op.reference = half_scales_reference;
  op.impls = {{.name = "setup", .tunables = {}, .build = half_scales_program}};
  for (const FillKind fill :
       {FillKind::Normal, FillKind::Wide, FillKind::Special, FillKind::Nan, FillKind::Zero}) {
    for (const Sizes& sizes : {Sizes{1, 8, 1}, {1, 8, 40}, {1, 64, 13}, {1, 1048, 7}}) {
      Trial trial = trial_of(op, "setup", sizes, 8);
      trial.fill = fill;
      expect_right_here(trial);
    }
  }
}

TEST_F(WeightsTest, ATextureThatTheDeviceCannotHoldIsRefusedWithItsSize) {
  Trial trial = trial_of(op_of("linear_q8csw"), "gemv", {1, 256, 40});
  trial.tune = {{"weights", 1}};
  EXPECT_EQ(refusal(trial), "");
  trial.as_if = [](DeviceInfo& device) {
    for (TextureSupport& support : device.textures) support.max_extent = {64, 9, 1};
  };
  EXPECT_EQ(refusal(trial), "the weights' texture of 64 x 10 texels exceeds the device's largest of 64 x 9");
  trial.as_if = [](DeviceInfo& device) { device.textures.clear(); };
  EXPECT_EQ(refusal(trial), "sampled 2D textures of rgba32i are missing");
  trial.tune.clear();
  EXPECT_EQ(refusal(trial), "");
}

}  // namespace
}  // namespace assay::ops
