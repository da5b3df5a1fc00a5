#include "ops/registry.h"
#include "tests/support/on_device.h"

#include <gmock/gmock.h>

namespace assay::ops {
namespace {

using namespace test;

class UpdateCacheTest : public OnDeviceTest {
 protected:
  /// `shape`: of x.
  Trial trial(const Shape& shape, std::int64_t capacity, std::int64_t start, const std::string& layout,
              const std::string& dtype, const std::string& cache_dtype = "float") const {
    Params params;
    params.set("B", shape[0]);
    params.set("S", shape[1]);
    params.set("Hkv", shape[2]);
    params.set("D", shape[3]);
    params.set("start_pos", start);
    params.set("C", capacity);
    params.set("layout", layout);
    params.set("dtype", dtype);
    params.set("cache_dtype", cache_dtype);
    const bool is_q8 = cache_dtype == "q8";
    return {.op = &op,
            .params = params,
            .forms = std::vector<Form>(is_q8 ? 5 : 3, Form{Storage::Buffer, Layout::WP}),
            .impl = is_q8 ? "quantize" : "copy"};
  }

  std::int64_t invocations_of(Trial point) {
    point.tune = {{"local_size", 1}};
    return program_of(point).dispatches[0].workgroups[0];
  }

  static constexpr Form texture{Storage::Texture3D, Layout::WP};
  Registry ops = registry();
  const Op& op = *ops.find("update_cache");
};

TEST_F(UpdateCacheTest, AgreesWithItsReferenceOnRandomPoints) {
  Draw draw(94);
  for (int round = 0; round < 80 && !HasFatalFailure(); ++round) {
    const std::int64_t tokens = draw.pick(1, 4), start = draw.pick(0, 3);
    const Shape shape{draw.pick(1, 3), tokens, draw.pick(1, 3), draw.pick(1, 20)};
    Trial point = trial(shape, start + tokens + draw.pick(0, 3), start,
                        draw.one_of<std::string>({"bshd", "bhsd"}), draw.one_of<std::string>({"f32", "f16"}));
    point.seed = static_cast<std::uint64_t>(round);
    point.fill = draw.one_of<FillKind>({FillKind::Normal, FillKind::Special, FillKind::Nan});
    if (round % 3 == 0) point.tune = {{"local_size", draw.one_of<std::int64_t>({1, 7, 64})}};
    if (round % 4 == 0) point.forms.assign(3, texture);
    expect_right(point);
  }
}

TEST_F(UpdateCacheTest, QuantizesAsItsReferenceOnRandomPoints) {
  Draw draw(95);
  for (int round = 0; round < 80 && !HasFatalFailure(); ++round) {
    const std::int64_t tokens = draw.pick(1, 4), start = draw.pick(0, 3);
    const Shape shape{draw.pick(1, 3), tokens, draw.pick(1, 3), draw.pick(1, 70)};
    Trial point =
        trial(shape, start + tokens + draw.pick(0, 3), start, draw.one_of<std::string>({"bshd", "bhsd"}),
              draw.one_of<std::string>({"f32", "f16"}), "q8");
    point.seed = static_cast<std::uint64_t>(round);
    point.fill = draw.one_of<FillKind>(
        {FillKind::Normal, FillKind::Special, FillKind::Nan, FillKind::Mixed, FillKind::Wide});
    if (round % 3 == 0) {
      point.tune = {{"local_size", draw.one_of<std::int64_t>({1, 7, 64})},
                    {"columns", draw.one_of<std::int64_t>({1, 2, 8, 64})}};
    }
    expect_right(point);
  }
}

TEST_F(UpdateCacheTest, AutoTakesTheImplOfTheCachesType) {
  for (const char* cache_dtype : {"float", "q8"}) {
    const Trial point = trial({1, 2, 1, 8}, 4, 1, "bshd", "f32", cache_dtype);
    const std::vector<TensorSpec> tensors = op.tensors(point.params);
    const BuildContext context(point.params, tensors, point.forms, device().info(), {});
    EXPECT_EQ(chosen_impl(op, *op.default_impl(), context).name, point.impl);
    EXPECT_TRUE(op.find_impl(point.impl == "copy" ? "quantize" : "copy")->invalid_reason(context));
  }
}

TEST_F(UpdateCacheTest, CopiesVectorsWordsOrHalvesOfWords) {
  EXPECT_EQ(invocations_of(trial({2, 3, 2, 4}, 9, 1, "bshd", "f32")), 2 * 3 * 2);
  EXPECT_EQ(invocations_of(trial({2, 3, 2, 4}, 9, 1, "bshd", "f16")), 2 * 3) << "of all heads";
  EXPECT_EQ(invocations_of(trial({2, 3, 2, 4}, 9, 1, "bhsd", "f16")), 2 * 3 * 2 * 2) << "words of one head";
  EXPECT_EQ(invocations_of(trial({2, 3, 1, 5}, 9, 1, "bshd", "f32")), 2 * 3 * 5);
  EXPECT_EQ(invocations_of(trial({2, 3, 1, 5}, 9, 1, "bshd", "f16")), 2 * (15 / 2 + 1));
  EXPECT_EQ(invocations_of(trial({2, 3, 4, 5}, 9, 1, "bshd", "f16")), 2 * 3 * 10) << "whole words";
}

TEST_F(UpdateCacheTest, CopiesTexelsOfTexturesWhereAllTensorsAre) {
  Trial point = trial({2, 3, 2, 5}, 9, 1, "bhsd", "f16");
  point.forms.assign(3, texture);
  EXPECT_EQ(invocations_of(point), 2 * 3 * 2 * 2);
  point.forms[2] = {Storage::Buffer, Layout::WP};
  const std::vector<TensorSpec> tensors = op.tensors(point.params);
  const BuildContext context(point.params, tensors, point.forms, device().info(), {});
  EXPECT_THAT(op.find_impl("copy")->invalid_reason(context).value_or(""),
              testing::StartsWith("x is texture3d/WP and cache is buffer/WP"));
}

TEST_F(UpdateCacheTest, CountsWhatTheTokensMove) {
  const Params params = trial({2, 3, 4, 8}, 100, 7, "bhsd", "f16").params;
  const std::vector<TensorSpec> tensors = op.tensors(params);
  EXPECT_EQ(tensors[2].shape, (Shape{2, 4, 100, 8}));
  EXPECT_EQ(tensors[1].shape, tensors[2].shape);
  EXPECT_TRUE(is_data_before_part(tensors, 1));
  const Work work = op.work(params, tensors);
  EXPECT_EQ(work.bytes_read, 2 * 3 * 4 * 8 * 2);
  EXPECT_EQ(work.bytes_written, work.bytes_read);
  EXPECT_EQ(work.operations, 0);
}

TEST_F(UpdateCacheTest, CountsInt8ValuesAndScales) {
  const Params params = trial({2, 3, 4, 8}, 100, 7, "bhsd", "f16", "q8").params;
  const std::vector<TensorSpec> tensors = op.tensors(params);
  EXPECT_EQ(tensors[3].shape, (Shape{2, 4, 100, 8}));
  EXPECT_EQ(tensors[4].shape, (Shape{2, 4, 100}));
  EXPECT_TRUE(is_data_before_part(tensors, 1));
  EXPECT_TRUE(is_data_before_part(tensors, 2));
  const Work work = op.work(params, tensors);
  EXPECT_EQ(work.bytes_read, 2 * 3 * 4 * 8 * 2);
  EXPECT_EQ(work.bytes_written, 2 * 3 * 4 * (8 + 4));
}

TEST_F(UpdateCacheTest, ACopyOfXIsRightOnlyWhereItFillsTheCacheInItsOrder) {
  const auto is_copy = [&](const Shape& shape, std::int64_t capacity, const std::string& layout) {
    return !op.tensors(trial(shape, capacity, 0, layout, "f32").params)[2].copy_because.empty();
  };
  EXPECT_TRUE(is_copy({2, 3, 4, 8}, 3, "bshd"));
  EXPECT_FALSE(is_copy({2, 3, 4, 8}, 4, "bshd"));
  EXPECT_FALSE(is_copy({2, 3, 4, 8}, 3, "bhsd"));
  EXPECT_TRUE(is_copy({2, 3, 1, 8}, 3, "bhsd"));
}

}  // namespace
}  // namespace assay::ops
