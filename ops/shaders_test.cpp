#include "harness/gpu/gpu.h"
#include "ops/registry.h"
#include "tests/support/on_device.h"

#include <gmock/gmock.h>
#include <spirv-tools/libspirv.hpp>

#include <functional>
#include <map>
#include <set>

// Every variant of every shader that the ops of this binary declare is valid SPIR-V for Vulkan 1.1. Which
// those are is what the ops' own programs say, over points that take every way through their builders.

namespace assay::ops {
namespace {

using namespace test;

using Variant = std::pair<std::string, std::vector<Define>>;
using Variants = std::set<Variant>;

/// Shapes with rows, columns and channels that are multiples of 4 and that are not, and one tensor that is
/// large.
// No other shape of up to 8 x 8 x 8 leads to a further variant.
const std::vector<Shape> shapes{{4, 4, 4}, {4, 4, 3}, {4, 3, 4}, {3, 4, 4},          {2, 3, 5, 7},
                                {4},       {4, 4},    {4, 1},    {1, 16, 1024, 2048}};

/// Calls `use` with each combination of forms that can hold the tensors.
void each_forms(std::span<const TensorSpec> tensors, std::vector<Form>& chosen,
                const std::function<void(const std::vector<Form>&)>& use) {
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

/// One that has no optional feature, and one that has those that change a shader.
std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> all(2);
  all[1].features = {Feature::RoundsToEven32, Feature::SubgroupShuffle};
  return all;
}

/// What the impls of `op` dispatch for one point, in every combination of forms that they take.
void add_variants(const Op& op, const Params& params, Variants& found) {
  const std::vector<TensorSpec> tensors = op.tensors(params);
  const std::vector<DeviceInfo> all_devices = devices();
  std::vector<Form> chosen;
  each_forms(tensors, chosen, [&](const std::vector<Form>& forms) {
    for (const Impl& impl : op.impls) {
      if (!impl.build) continue;  // it chooses another
      if (impl.excludes && impl.excludes(params, tensors, forms)) continue;
      for (const DeviceInfo& device : all_devices) {
        const Program program = impl.build({params, tensors, forms, device, {}});
        for (const Dispatch& dispatch : program.dispatches) {
          found.emplace(dispatch.shader, dispatch.defines);
          EXPECT_LE(dispatch.push.words().size(), 32U) << "more than every device takes: " << dispatch.shader;
        }
      }
    }
  });
}

std::vector<Params> affine_points() {
  std::vector<Params> points;
  for (const std::string dtype : {"f32", "f16"}) {
    for (const std::string quantized : {"i8", "u8", "i32"}) {
      for (const std::string domain : {"int", "none", "float"}) {
        for (const std::int64_t width : {7, 8}) {
          Params params;
          params.set("shape", Shape{width});
          params.set("block_size", std::vector<std::int64_t>{-1});
          params.set("dtype", dtype);
          params.set("quantized", quantized);
          params.set("zero_point_domain", domain);
          points.push_back(std::move(params));
        }
      }
    }
  }
  return points;
}

/// Every rule; blocks whose lanes are apart, that are split, and neither.
std::vector<Params> choose_points(const std::vector<std::string>& mappings) {
  std::vector<Params> points;
  for (const std::string dtype : {"f32", "f16"}) {
    for (const Shape& shape : {Shape{7, 7}, Shape{8, 8}, Shape{1, 1 << 18}}) {
      for (const std::vector<std::int64_t>& block : {std::vector<std::int64_t>{1, -1}, {-1, 1}}) {
        for (const std::string& mapping : mappings) {
          Params params;
          params.set("shape", shape);
          params.set("block_size", block);
          params.set("dtype", dtype);
          params.set("mapping", mapping);
          points.push_back(std::move(params));
        }
      }
    }
  }
  return points;
}

std::vector<Params> dynamic_points() {
  std::vector<Params> points;
  for (const Params& chosen : choose_points({"asymmetric", "symmetric", "symmetric_no_clipping_err"})) {
    for (const std::string quantized : {"i8", "u8", "i32"}) {
      if (quantized == "u8" && chosen.choice("mapping") == "symmetric_no_clipping_err") continue;
      points.push_back(chosen);
      points.back().set("quantized", quantized);
    }
  }
  return points;
}

/// Of ops over the affine kernels whose name says which elements share a scale.
std::vector<Params> granularity_points() {
  std::vector<Params> points;
  for (const Params& affine : affine_points()) {
    if (affine.choice("zero_point_domain") != "int") continue;
    Params& params = points.emplace_back();
    for (const char* same : {"shape", "dtype", "quantized"}) params.set(same, affine.at(same));
    params.set("axis", std::int64_t{-1});
  }
  return points;
}

std::vector<Params> embedding_points() {
  std::vector<Params> points(2);
  for (Params& params : points) {
    params.set("indices", Shape{2, 3});
    params.set("vocab", std::int64_t{5});
    params.set("dim", std::int64_t{32});
  }
  points[1].set("dtype", std::string("f16"));
  return points;
}

std::vector<Params> shaped_points() {
  std::vector<Params> points(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) points[i].set("shape", shapes[i]);
  return points;
}

std::vector<Params> typed_points() {
  std::vector<Params> points;
  for (const Params& shaped : shaped_points()) {
    for (const std::string dtype : {"f32", "f16"}) {
      points.push_back(shaped);
      points.back().set("dtype", dtype);
    }
  }
  return points;
}

/// `typed_points` with parameters of the integers under `name`.
std::vector<Params> quantizing_points(const std::string& name) {
  std::vector<Params> points = typed_points();
  for (Params& params : points) params.set(name, QParams{0.5F, 1});
  return points;
}

std::vector<Params> view_points() {
  std::vector<Params> points = typed_points();
  for (Params& params : points) params.set("new_shape", Shape{numel(params.ints("shape"))});
  return points;
}

std::vector<Params> permute_points() {
  std::vector<Params> points = typed_points();
  for (Params& params : points) {
    Shape reversed;
    for (std::size_t i = params.ints("shape").size(); i-- > 0;) {
      reversed.push_back(static_cast<std::int64_t>(i));
    }
    params.set("dims", reversed);
  }
  return points;
}

/// `shaped_points` with the parameters of int8 tensors.
std::vector<Params> requantizing_points(const std::vector<std::string>& names) {
  std::vector<Params> points = shaped_points();
  for (Params& params : points) {
    for (const std::string& name : names) params.set(name, QParams{0.5F, 1});
  }
  return points;
}

/// `b_shape`: that of a, one value a channel, one a row.
std::vector<Params> add_points() {
  std::vector<Params> points;
  for (const Params& shaped : requantizing_points({"a", "b", "y"})) {
    const Shape& shape = shaped.ints("shape");
    for (const std::size_t dims_of_one : {0, 1, 2}) {
      Shape b_shape = shape;
      for (std::size_t i = 0; i < dims_of_one && i < shape.size(); ++i) b_shape[shape.size() - 1 - i] = 1;
      points.push_back(shaped);
      points.back().set("b_shape", b_shape);
      points.push_back(points.back());
      points.back().set("shape", b_shape);
      points.back().set("b_shape", shape);
    }
  }
  return points;
}

std::vector<Params> float_shuffle_points() {
  std::vector<Params> points;
  for (const std::string dtype : {"f32", "f16"}) {
    for (const std::int64_t upscale : {1, 2, 3, 4}) {
      for (const Shape& y : {Shape{1, 4, 4, 4}, Shape{1, 3, 5, 7}, Shape{1, 1, 3, 3}}) {
        Params params;
        params.set("shape", Shape{1, y[1] * upscale * upscale, y[2], y[3]});
        params.set("upscale_factor", upscale);
        params.set("dtype", dtype);
        points.push_back(std::move(params));
      }
    }
  }
  return points;
}

std::vector<Params> pixel_shuffle_points() {
  std::vector<Params> points;
  for (const std::int64_t channels : {4, 16, 36}) {
    for (const std::int64_t height : {1, 4}) {
      for (const std::int64_t width : {2, 3, 4}) {
        Params params;
        params.set("shape", Shape{1, channels, height, width});
        params.set("upscale_factor", std::int64_t{2});
        params.set("x", QParams{});
        params.set("y", QParams{});
        points.push_back(std::move(params));
      }
    }
  }
  return points;
}

struct Coverage {
  std::vector<Params> points;
  std::size_t variants = 0;  ///< how many the points lead to
};

/// By the name of an op. A new op is covered here.
std::map<std::string, Coverage> coverage() {
  return {{"choose_qparams_affine",
           {choose_points({"asymmetric", "symmetric", "symmetric_no_clipping_err"}), 102}},
          {"choose_qparams_per_row", {choose_points({""}), 42}},
          {"choose_qparams_per_token_asymmetric", {choose_points({""}), 42}},
          {"choose_qparams_tensor", {choose_points({""}), 30}},
          {"clone", {typed_points(), 211}},
          {"quantize_dynamic", {dynamic_points(), 234}},
          {"dequantize_affine", {affine_points(), 60}},
          {"dequantize_per_channel", {granularity_points(), 20}},
          {"dequantize_per_tensor", {granularity_points(), 20}},
          {"dequantize_per_token", {granularity_points(), 20}},
          {"embedding_q4gsw", {embedding_points(), 8}},
          {"permute", {permute_points(), 26}},
          {"pixel_shuffle", {float_shuffle_points(), 226}},
          {"q8ta_add", {add_points(), 8}},
          {"q8ta_clone", {shaped_points(), 13}},
          {"q8ta_dequantize", {quantizing_points("x"), 71}},
          {"q8ta_pixel_shuffle", {pixel_shuffle_points(), 16}},
          {"q8ta_quantize", {quantizing_points("y"), 80}},
          {"q8ta_relu", {requantizing_points({"x", "y"}), 26}},
          {"quantize_affine", {affine_points(), 60}},
          {"quantize_per_channel", {granularity_points(), 20}},
          {"quantize_per_tensor", {granularity_points(), 20}},
          {"quantize_per_token", {granularity_points(), 20}},
          {"view", {view_points(), 26}}};
}

void expect_valid(const Variants& variants) {
  gpu::ShaderLibrary shaders;
  spvtools::SpirvTools validator(SPV_ENV_VULKAN_1_1);
  std::string messages;
  validator.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t&,
                                   const char* text) { messages += std::string(text) + "\n"; });
  for (const auto& [shader, defines] : variants) {
    EXPECT_TRUE(validator.Validate(shaders.compile(shader, defines).words)) << shader << ": " << messages;
  }
}

TEST(Shaders, OfEveryOpAreCovered) {
  const Registry ops = registry();
  std::vector<std::string> covered, known;
  for (const auto& [name, points] : coverage()) covered.push_back(name);
  for (const Op& op : ops.ops()) known.push_back(op.name);
  EXPECT_THAT(covered, testing::UnorderedElementsAreArray(known));
}

TEST(Shaders, OfEveryOpAreValidInEveryVariant) {
  const Registry ops = registry();
  Variants all;
  for (const auto& [name, covered] : coverage()) {
    const Op* op = ops.find(name);
    ASSERT_NE(op, nullptr) << name;
    Variants found;
    for (const Params& point : covered.points) add_variants(*op, with_defaults(*op, point), found);
    EXPECT_EQ(found.size(), covered.variants) << name;
    all.merge(found);
  }
  expect_valid(all);
}

}  // namespace
}  // namespace assay::ops
