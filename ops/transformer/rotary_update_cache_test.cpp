#include "ops/registry.h"
#include "tests/support/on_device.h"

#include <gmock/gmock.h>

namespace assay::ops {
namespace {

using namespace test;

class RotaryUpdateCacheTest : public OnDeviceTest {
 protected:
  struct Sizes {
    std::int64_t batch = 1, tokens = 1, heads = 1, width = 8, turned = 8, start = 0, capacity = 1;
  };

  Trial trial(const Sizes& of, const std::string& pairs, const std::string& layout, const std::string& dtype,
              const std::string& cache_dtype = "float") const {
    Params params;
    params.set("B", of.batch);
    params.set("S", of.tokens);
    params.set("Hkv", of.heads);
    params.set("D", of.width);
    params.set("pairs", pairs);
    params.set("rotary_dim", of.turned);
    params.set("start_pos", of.start);
    params.set("C", of.capacity);
    params.set("layout", layout);
    params.set("dtype", dtype);
    params.set("cache_dtype", cache_dtype);
    return {.op = &op,
            .params = with_defaults(op, params),
            .forms = std::vector<Form>(cache_dtype == "q8" ? 7 : 5, Form{Storage::Buffer, Layout::WP}),
            .impl = cache_dtype == "q8" ? "quantize" : "pairs"};
  }

  std::int64_t invocations_of(Trial point) {
    point.tune = {{"local_size", 1}};
    return program_of(point).dispatches[0].workgroups[0];
  }

  Registry ops = registry();
  const Op& op = *ops.find("rotary_update_cache");
};

TEST_F(RotaryUpdateCacheTest, AgreesWithItsReferenceOnRandomPoints) {
  Draw draw(97);
  for (int round = 0; round < 100 && !HasFatalFailure(); ++round) {
    Sizes of{.batch = draw.pick(1, 3), .tokens = draw.pick(1, 4), .heads = draw.pick(1, 3)};
    of.width = draw.pick(2, 40);
    of.turned = 2 * draw.pick(1, of.width / 2);
    of.start = draw.pick(0, 3);
    of.capacity = of.start + of.tokens + draw.pick(0, 3);
    Trial point = trial(of, draw.one_of<std::string>({"half_split", "interleaved"}),
                        draw.one_of<std::string>({"bshd", "bhsd"}), draw.one_of<std::string>({"f32", "f16"}),
                        draw.one_of<std::string>({"float", "q8"}));
    point.seed = static_cast<std::uint64_t>(round);
    point.fill = draw.one_of<FillKind>(
        {FillKind::Normal, FillKind::Wide, FillKind::Special, FillKind::Mixed, FillKind::Nan});
    if (round % 3 == 0) point.tune = {{"local_size", draw.one_of<std::int64_t>({1, 7, 64})}};
    expect_right(point);
  }
}

TEST_F(RotaryUpdateCacheTest, AnInvocationMakesQuadsWordsOrHalvesOfWords) {
  const Sizes of{.batch = 2, .tokens = 3, .heads = 2, .width = 16, .turned = 8, .start = 1, .capacity = 9};
  EXPECT_EQ(invocations_of(trial(of, "half_split", "bshd", "f32")), 2 * 3 * 2 * (1 + 2));
  EXPECT_EQ(invocations_of(trial(of, "interleaved", "bhsd", "f16")), 2 * 3 * 2 * (1 + 2));
  Sizes odd = of;
  odd.width = 9;
  EXPECT_EQ(invocations_of(trial(odd, "half_split", "bshd", "f32")), 2 * 3 * 2 * 9);
  EXPECT_EQ(invocations_of(trial(odd, "half_split", "bshd", "f16")), 2 * 3 * 2 * 9) << "halves of words";
  odd.width = 10;
  EXPECT_EQ(invocations_of(trial(odd, "half_split", "bshd", "f16")), 2 * 3 * 2 * 5);
}

TEST_F(RotaryUpdateCacheTest, AnImplIsForOneTypeOfCache) {
  const Sizes of{.tokens = 2, .capacity = 3};
  for (const Impl& impl : op.impls) {
    if (!impl.invalid_reason) continue;
    for (const char* cache : {"float", "q8"}) {
      const bool fits = (impl.name == "quantize") == (std::string(cache) == "q8");
      const Trial point = trial(of, "half_split", "bshd", "f16", cache);
      const std::vector<TensorSpec> tensors = op.tensors(point.params);
      EXPECT_EQ(impl.invalid_reason({point.params, tensors, point.forms, {}}).has_value(), !fits)
          << impl.name << " " << cache;
    }
  }
}

TEST_F(RotaryUpdateCacheTest, CountsTheCodesAndScalesOfAnInt8Cache) {
  const Sizes of{.batch = 2, .tokens = 3, .heads = 4, .width = 8, .turned = 4, .start = 5, .capacity = 9};
  const Params params = trial(of, "half_split", "bhsd", "f16", "q8").params;
  const std::vector<TensorSpec> tensors = op.tensors(params);
  ASSERT_EQ(tensors.size(), 7U);
  EXPECT_EQ(tensors[6].shape, (Shape{2, 4, 9}));
  EXPECT_TRUE(is_data_before_part(tensors, 3));
  EXPECT_TRUE(is_data_before_part(tensors, 4));
  const Work work = op.work(params, tensors);
  EXPECT_EQ(work.bytes_read, 2 * 3 * 4 * 8 * 2 + 2 * 3 * 2 * 4);
  EXPECT_EQ(work.bytes_written, 2 * 3 * 4 * (8 + 4));
  EXPECT_EQ(work.operations, 3 * 2 * 3 * 4 * 4 + 4 * 2 * 3 * 4 * 8);
}

TEST_F(RotaryUpdateCacheTest, CountsTheRowsThatAreTurnedAndWritten) {
  const Sizes of{.batch = 2, .tokens = 3, .heads = 4, .width = 8, .turned = 4, .start = 100, .capacity = 200};
  const Params params = trial(of, "half_split", "bhsd", "f16").params;
  const std::vector<TensorSpec> tensors = op.tensors(params);
  EXPECT_EQ(tensors[1].shape, (Shape{103, 2}));
  EXPECT_EQ(tensors[4].shape, (Shape{2, 4, 200, 8}));
  EXPECT_TRUE(is_data_before_part(tensors, 3));
  const Work work = op.work(params, tensors);
  EXPECT_EQ(work.bytes_read, 2 * 3 * 4 * 8 * 2 + 2 * 3 * 2 * 4);
  EXPECT_EQ(work.bytes_written, 2 * 3 * 4 * 8 * 2);
  EXPECT_EQ(work.operations, 3 * 2 * 3 * 4 * 4);
}

/// A value of the cache's type is as far from float64 as rounding it takes it, and its bound says so.
TEST_F(RotaryUpdateCacheTest, BoundsIncludeTheRoundingOfWhatIsExpected) {
  const Sizes of{.tokens = 1, .width = 2, .turned = 2, .start = 0, .capacity = 2};
  const auto answer = [&](const std::string& dtype) {
    const Params params = trial(of, "half_split", "bshd", dtype).params;
    const DType type = parse_dtype(dtype).value();
    HostTensor x(type, {1, 1, 1, 2}), before(type, {1, 2, 1, 2}), cos(DType::F32, {1, 1}),
        sin(DType::F32, {1, 1});
    if (type == DType::F16) {
      for (Half& value : x.as<Half>()) value = to_half(1);
    } else {
      for (float& value : x.as<float>()) value = 1;
    }
    cos.as<float>()[0] = 0x1p-1F + 0x1p-24F;
    sin.as<float>()[0] = 0x1p-40F;
    return op.reference(params, std::vector<HostTensor>{x, cos, sin, before}).front();
  };
  const Expected single = answer("f32"), half = answer("f16");
  EXPECT_EQ(single.values.dtype(), DType::F32);
  EXPECT_EQ(single.values.at(0), 0x1p-1 + 0x1p-24);
  EXPECT_GE(single.bound[0], 0x1p-40F) << "cos - sin, which no float32 holds";
  EXPECT_LT(single.bound[0], 0x1.001p-40F);
  EXPECT_GE(half.bound[0], 0x1p-11F + 0x1p-25F) << "an ULP of float16, and what rounding changed";
  EXPECT_THAT(half.kept, ::testing::ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(half.bound[2], 0);
}

}  // namespace
}  // namespace assay::ops
