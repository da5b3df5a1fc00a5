#include "ops/matmul/matmul.h"

#include "harness/cases/describe/reachable_programs.h"
#include "ops/linear/linear_test_support.h"
#include "ops/registry.h"
#include "tests/support/on_device.h"

#include <gmock/gmock.h>

#include <map>

// mm, bmm and addmm: which impl is taken, how matrices are cut, and that c is not there where beta is 0.

namespace assay::ops {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Form in_buffer{Storage::Buffer, Layout::WP};
constexpr Form in_texture{Storage::Texture3D, Layout::WP};

using MatrixSizes = std::map<std::string, std::int64_t>;

class MatmulTest : public OnDeviceTest {
 protected:
  Trial trial(const std::string& name, const MatrixSizes& sizes, const std::string& dtype,
              const std::string& impl) const {
    Trial made{.op = ops.find(name), .impl = impl};
    for (const auto& [size, value] : sizes) made.params.set(size, value);
    made.params.set("dtype", dtype);
    made.params = with_defaults(*made.op, made.params);
    made.forms.assign(made.op->tensors(made.params).size(), in_buffer);
    return made;
  }

  /// The same point, with the tensors in textures that can be.
  static Trial in_textures(Trial point) {
    const std::vector<TensorSpec> tensors = point.op->tensors(point.params);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].forms.size() > 1) point.forms[i] = in_texture;
    }
    return point;
  }

  /// The program's only dispatch on this device.
  Dispatch product_on(const DeviceInfo& device, Trial made) {
    made.as_if = [device](DeviceInfo& info) { info = device; };
    const Program program = program_of(made);
    EXPECT_EQ(program.dispatches.size(), 1);
    return program.dispatches.at(0);
  }

  std::string refusal_on(const DeviceInfo& device, const Trial& made) {
    const Impl& impl = *made.op->find_impl(made.impl);
    const std::vector<TensorSpec> tensors = made.op->tensors(made.params);
    const BuildContext context(made.params, tensors, made.forms, device, made.tune);
    if (const auto reason = impl.invalid_reason(context)) return *reason;
    return missing_for(impl, context).value_or("");
  }

  std::vector<std::string> choices(const DeviceInfo& device, const Trial& made) {
    const std::vector<TensorSpec> tensors = made.op->tensors(made.params);
    const BuildContext context(made.params, tensors, made.forms, device, made.tune);
    std::vector<std::string> names;
    for (const Impl* impl : candidates(*made.op, *made.op->find_impl("auto"), context)) {
      names.push_back(impl->name);
    }
    return names;
  }

  const Registry ops = registry();
  const DeviceInfo amd = device_of_vendor(Vendor::Amd);
};

const MatrixSizes large_square{{"M", 4096}, {"K", 4096}, {"N", 4096}};

TEST_F(MatmulTest, AgreesWithItsReferenceOnRandomPoints) {
  Draw draw(43);
  for (int round = 0; round < 60 && !HasFatalFailure(); ++round) {
    const auto name = draw.one_of<std::string>({"mm", "bmm", "addmm"});
    const auto impl = draw.one_of<std::string>({"tiled", "coopmat"});
    MatrixSizes sizes{{"M", draw.pick(1, 40)}, {"K", draw.pick(1, 70)}, {"N", draw.pick(1, 50)}};
    if (name == "bmm") sizes["B"] = draw.pick(1, 4);
    Trial made =
        trial(name, sizes, impl == "coopmat" ? "f16" : draw.one_of<std::string>({"f32", "f16"}), impl);
    if (name == "addmm") {
      made.params.set("alpha", draw.one_of<double>({0, 1, -0.75}));
      made.params.set("beta", draw.one_of<double>({0, 1, 3}));
      made.params.set("c", draw.one_of<std::string>({"matrix", "row"}));
    }
    made.seed = static_cast<std::uint64_t>(round);
    made.fill = draw.one_of<FillKind>({FillKind::Normal, FillKind::Wide, FillKind::Mixed, FillKind::Nan});
    expect_right(impl == "tiled" && round % 3 == 0 ? in_textures(made) : made);
  }
}

TEST_F(MatmulTest, AutoTakesMatricesForHalvesWhereTheDeviceHasThem) {
  EXPECT_THAT(choices(amd, trial("mm", large_square, "f16", "auto")), ElementsAre("coopmat", "tiled"));
  EXPECT_THAT(choices(amd, trial("mm", large_square, "f32", "auto")), ElementsAre("tiled"));
  EXPECT_THAT(choices(device_of_vendor(Vendor::Qualcomm), trial("mm", large_square, "f16", "auto")),
              ElementsAre("tiled"));
  EXPECT_THAT(refusal_on(amd, trial("mm", large_square, "f32", "coopmat")), HasSubstr("a and b are f32"));
}

TEST_F(MatmulTest, MatricesAreAllInBuffersOrAllInTextures) {
  const Trial all = in_textures(trial("mm", {{"M", 4}, {"K", 8}, {"N", 16}}, "f16", "tiled"));
  EXPECT_EQ(refusal_on(amd, all), "");
  Trial without_b = all;
  without_b.forms[1] = in_buffer;
  EXPECT_EQ(refusal_on(amd, without_b),
            "a is texture3d/WP and b is buffer/WP: this kernel needs both in the same storage and layout");
  Trial y_alone = all;
  y_alone.forms[0] = y_alone.forms[1] = in_buffer;
  EXPECT_EQ(refusal_on(amd, y_alone),
            "a is buffer/WP and y is texture3d/WP: this kernel needs both in the same storage and layout");
}

TEST_F(MatmulTest, ARowOfCStaysInABuffer) {
  Trial made = trial("addmm", {{"M", 4}, {"K", 8}, {"N", 16}}, "f16", "tiled");
  EXPECT_THAT(made.op->tensors(made.params).at(2).forms, ElementsAre(in_buffer, in_texture));
  const Dispatch with_matrix = product_on(amd, in_textures(made));
  EXPECT_TRUE(with_matrix.bindings.at(2).is_sampled());
  EXPECT_FALSE(with_matrix.bindings.at(3).is_sampled()) << "y";
  made.params.set("c", std::string("row"));
  EXPECT_THAT(made.op->tensors(made.params).at(2).forms, ElementsAre(in_buffer));
  made = in_textures(made);
  EXPECT_EQ(refusal_on(amd, made), "");
  EXPECT_FALSE(product_on(amd, made).bindings.at(2).is_sampled());
}

TEST_F(MatmulTest, MatricesInTexturesAreMultipliedInTiles) {
  const Trial made = in_textures(trial("mm", large_square, "f16", "auto"));
  EXPECT_THAT(choices(amd, made), ElementsAre("tiled"));
  Trial refused = made;
  refused.impl = "coopmat";
  EXPECT_EQ(refusal_on(amd, refused), "a is texture3d/WP: this impl reads and writes buffers only");
  refused.forms = {in_buffer, in_buffer, in_texture};
  EXPECT_EQ(refusal_on(amd, refused), "y is texture3d/WP: this impl reads and writes buffers only");
}

TEST_F(MatmulTest, TexelsAreCountedWithTheirPadding) {
  const Trial made = trial("bmm", {{"B", 1 << 14}, {"M", 1 << 15}, {"K", 3}, {"N", 1}}, "f16", "tiled");
  EXPECT_EQ(refusal_on(amd, made), "");
  EXPECT_THAT(refusal_on(amd, in_textures(made)), HasSubstr("a: 2147483648 elements as texture3d/WP"));
}

TEST_F(MatmulTest, DefaultSizesFitTheDevicesOfOtherVendors) {
  for (const Vendor vendor : {Vendor::Amd, Vendor::IntelDg2, Vendor::IntelXe2, Vendor::Lavapipe}) {
    const DeviceInfo device = device_of_vendor(vendor);
    for (const MatrixSizes& sizes :
         {MatrixSizes{{"M", 1}, {"K", 7}, {"N", 5}}, {{"M", 4096}, {"K", 1024}, {"N", 256}}, large_square}) {
      const Trial made = trial("mm", sizes, "f16", "coopmat");
      SCOPED_TRACE(made.describe());
      EXPECT_EQ(refusal_on(device, made), "");
      const Dispatch product = product_on(device, made);
      EXPECT_EQ(define_of(product, "MATRICES"), "1");
      EXPECT_TRUE(ask_for_khr_matrices(product.defines));
      EXPECT_LE(product.shared_bytes, device.max_shared_bytes);
    }
  }
}

TEST_F(MatmulTest, TilesAreLargeWhereThereAreManyOfThem) {
  const auto tile_of = [&](const MatrixSizes& sizes) {
    const Dispatch product = product_on(amd, trial("mm", sizes, "f16", "coopmat"));
    return std::pair(constant_of(product, "tile_m"), constant_of(product, "tile_n"));
  };
  EXPECT_EQ(tile_of(large_square), std::pair(128U, 128U));
  EXPECT_EQ(tile_of({{"M", 4096}, {"K", 1024}, {"N", 256}}), std::pair(64U, 64U));
}

TEST_F(MatmulTest, EachMatrixOfABatchBeginsWithATile) {
  for (const std::string impl : {"tiled", "coopmat"}) {
    Trial made = trial("bmm", {{"B", 3}, {"M", 17}, {"K", 8}, {"N", 20}}, "f16", impl);
    made.tune = {{"tile_m", 16}, {"tile_n", 16}};
    const Dispatch product = product_on(amd, made);
    EXPECT_EQ(product.workgroups[0], 3 * 2 * 2) << impl;
    EXPECT_EQ(define_of(product, "PLANES"), "1");
    EXPECT_EQ(product.push.words()[1], 3 * 32) << "slots";
  }
  const Dispatch one =
      product_on(amd, trial("bmm", {{"B", 1}, {"M", 17}, {"K", 8}, {"N", 20}}, "f16", "tiled"));
  EXPECT_EQ(define_of(one, "PLANES"), "0");
  EXPECT_EQ(one.push.words()[1], 17);
}

TEST_F(MatmulTest, RefusesMoreSlotsThanItCanCount) {
  const std::int64_t batch = std::int64_t{1} << 27;
  for (const std::string impl : {"tiled", "coopmat"}) {
    Trial made = trial("bmm", {{"B", batch}, {"M", 1}, {"K", 1}, {"N", 1}}, "f16", impl);
    made.tune = {{"tile_m", 16}, {"tile_n", 16}};
    EXPECT_THAT(refusal_on(amd, made), HasSubstr("tiles of y have 2147483648 rows in all, which exceeds the "
                                                 "2147483647 that this kernel can count"))
        << impl;
    made.params.set("B", batch - 1);
    EXPECT_EQ(refusal_on(amd, made), "") << impl;
  }
}

/// A slab of 32 takes ten iterations: one, eight of four values, and the check that finds their end.
TEST_F(MatmulTest, SlabsThatACpuLeavesEarlyAreRefused) {
  const DeviceInfo cpu{.type = "cpu"};
  const std::int64_t most = 32 * 6553;
  const auto deep = [&](std::int64_t k) {
    return trial("mm", {{"M", 1}, {"K", k}, {"N", 4}}, "f32", "tiled");
  };
  EXPECT_EQ(refusal_on(cpu, deep(most)), "");
  EXPECT_EQ(refusal_on(cpu, deep(most + 1)),
            "65541 loop iterations per invocation exceed the 65535 that a CPU device runs");
  EXPECT_EQ(refusal_on(amd, deep(most + 1)), "");
  expect_right(deep(most));
}

TEST_F(MatmulTest, CIsNeitherBoundNorCountedWhereBetaIsZero) {
  Trial made = trial("addmm", {{"M", 4}, {"K", 8}, {"N", 16}}, "f16", "tiled");
  const auto bytes_read = [&] {
    return made.op->work(made.params, made.op->tensors(made.params)).bytes_read;
  };
  EXPECT_EQ(product_on(amd, made).bindings.size(), 4);
  EXPECT_EQ(bytes_read(), 2 * (4 * 8 + 8 * 16 + 4 * 16));
  made.params.set("beta", 0.0);
  EXPECT_EQ(product_on(amd, made).bindings.size(), 3);
  EXPECT_EQ(bytes_read(), 2 * (4 * 8 + 8 * 16));
}

TEST_F(MatmulTest, CountsTheProductsOfEachMatrix) {
  const Trial made = trial("bmm", {{"B", 3}, {"M", 5}, {"K", 7}, {"N", 11}}, "f32", "tiled");
  EXPECT_EQ(made.op->work(made.params, made.op->tensors(made.params)).operations, 2 * 3 * 5 * 7 * 11);
}

}  // namespace
}  // namespace assay::ops
