#include "harness/gpu/gpu.h"
#include "ops/on_device_test.h"
#include "ops/registry.h"

#include <spirv-tools/libspirv.hpp>

#include <set>

// Every variant of every shader that the ops of this binary declare is valid SPIR-V for Vulkan 1.1.

namespace assay::ops {
namespace {

using Variant = std::pair<std::string, std::vector<Define>>;

void add_variants(const Op& op, const Params& params, const std::vector<Form>& forms,
                  std::set<Variant>& found) {
  const std::vector<TensorSpec> tensors = op.tensors(params);
  const DeviceInfo device;
  for (const Impl& impl : op.impls) {
    for (const Dispatch& dispatch : impl.build({params, tensors, forms, device, {}}).dispatches) {
      found.emplace(dispatch.shader, dispatch.defines);
    }
  }
}

std::set<Variant> affine_variants(const Op& op) {
  std::set<Variant> found;
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
          params = with_defaults(op, params);
          for (const Storage storage : {Storage::Buffer, Storage::Texture3D, Storage::Texture2D}) {
            std::vector<Form> forms(op.tensors(params).size(), {Storage::Buffer, Layout::WP});
            forms.front().storage = forms.back().storage = storage;
            add_variants(op, params, forms, found);
          }
        }
      }
    }
  }
  return found;
}

std::set<Variant> pixel_shuffle_variants(const Op& op) {
  std::set<Variant> found;
  for (const Layout x : {Layout::P4W4C, Layout::P4C1W}) {
    for (const Layout y : {Layout::P4W4C, Layout::P4C1W}) {
      for (const std::int64_t width : {3, 2, 4}) {
        Params params;
        params.set("shape", Shape{1, 4, 1, width});
        params.set("upscale_factor", std::int64_t{2});
        params.set("x", QParams{});
        params.set("y", QParams{});
        add_variants(op, params, {{Storage::Buffer, x}, {Storage::Buffer, y}}, found);
      }
    }
  }
  return found;
}

void expect_valid(const std::set<Variant>& variants) {
  gpu::ShaderLibrary shaders;
  spvtools::SpirvTools validator(SPV_ENV_VULKAN_1_1);
  std::string messages;
  validator.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t&,
                                   const char* text) { messages += std::string(text) + "\n"; });
  for (const auto& [shader, defines] : variants) {
    EXPECT_TRUE(validator.Validate(shaders.compile(shader, defines).words)) << shader << ": " << messages;
  }
}

TEST(Shaders, OfTheAffineOpsAreValidInEveryVariant) {
  const Registry ops = registry();
  for (const std::string name : {"quantize_affine", "dequantize_affine"}) {
    const std::set<Variant> variants = affine_variants(*ops.find(name));
    EXPECT_EQ(variants.size(), 24u + 36u) << name;  // buffers, textures
    expect_valid(variants);
  }
}

TEST(Shaders, OfThePixelShuffleAreValidInEveryVariant) {
  const Registry ops = registry();
  const std::set<Variant> variants = pixel_shuffle_variants(*ops.find("q8ta_pixel_shuffle"));
  EXPECT_EQ(variants.size(), 4u);
  expect_valid(variants);
}

}  // namespace
}  // namespace assay::ops
