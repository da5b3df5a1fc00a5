#include "ops/registry.h"
#include "tests/support/on_device.h"

#include <gmock/gmock.h>

namespace assay::ops {
namespace {

using namespace test;

class UpdateCacheTest : public OnDeviceTest {
 protected:
  Trial trial(const Shape& shape, std::int64_t capacity, std::int64_t start, const std::string& layout,
              const std::string& dtype) const {
    Params params;
    params.set("shape", shape);
    params.set("dtype", dtype);
    params.set("capacity", capacity);
    params.set("start_pos", start);
    params.set("layout", layout);
    return {.op = &op, .params = params, .forms = std::vector<Form>(3, Form{Storage::Buffer, Layout::WP})};
  }

  std::int64_t invocations_of(Trial point) {
    point.tune = {{"local_size", 1}};
    return program_of(point).dispatches[0].workgroups[0];
  }

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
    expect_right(point);
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
