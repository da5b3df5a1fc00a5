#include "ops/registry.h"
#include "ops/transformer/rotary.h"
#include "tests/support/on_device.h"

#include <gmock/gmock.h>

namespace assay::ops {
namespace {

using namespace test;

class RotaryEmbeddingTest : public OnDeviceTest {
 protected:
  Trial trial(const Shape& shape, std::int64_t turned, const std::string& pairs, const std::string& dtype,
              std::int64_t start = 0) const {
    Params params;
    params.set("shape", shape);
    params.set("dtype", dtype);
    params.set("pairs", pairs);
    params.set("rotary_dim", turned);
    params.set("start_pos", start);
    return {.op = &op,
            .params = with_defaults(op, params),
            .forms = std::vector<Form>(4, Form{Storage::Buffer, Layout::WP})};
  }

  static Trial in_textures(Trial point) {
    point.forms[0] = point.forms[3] = {Storage::Texture3D, Layout::WP};
    return point;
  }

  std::string refusal_of(const Trial& point) const {
    const std::vector<TensorSpec> tensors = op.tensors(point.params);
    return op.impls.front().invalid_reason(ImplPoint{point.params, tensors, point.forms, {}}).value_or("");
  }

  std::int64_t invocations_of(Trial point) {
    point.tune = {{"local_size", 1}};
    return program_of(point).dispatches[0].workgroups[0];
  }

  Registry ops = registry();
  const Op& op = *ops.find("rotary_embedding");
};

TEST_F(RotaryEmbeddingTest, AgreesWithItsReferenceOnRandomPoints) {
  Draw draw(93);
  for (int round = 0; round < 80 && !HasFatalFailure(); ++round) {
    const std::int64_t width = draw.pick(2, 40);
    Trial point = trial({draw.pick(1, 2), draw.pick(1, 4), draw.pick(1, 3), width},
                        2 * draw.pick(1, width / 2), draw.one_of<std::string>({"half_split", "interleaved"}),
                        draw.one_of<std::string>({"f32", "f16"}), draw.pick(0, 3));
    point.seed = static_cast<std::uint64_t>(round);
    point.fill = draw.one_of<FillKind>(
        {FillKind::Normal, FillKind::Wide, FillKind::Special, FillKind::Mixed, FillKind::Nan});
    if (round % 3 == 0) point.tune = {{"local_size", draw.one_of<std::int64_t>({1, 7, 64})}};
    expect_right(round % 2 == 0 ? in_textures(point) : point);
  }
}

TEST_F(RotaryEmbeddingTest, AnInvocationTurnsWholeQuadsWhereThereAreSome) {
  EXPECT_EQ(invocations_of(trial({1, 2, 1, 16}, 8, "half_split", "f32")), 2 * (1 + 2));
  EXPECT_EQ(invocations_of(trial({1, 2, 1, 16}, 8, "interleaved", "f32")), 2 * (1 + 2));
  EXPECT_EQ(invocations_of(trial({1, 2, 1, 16}, 12, "interleaved", "f32")), 2 * (3 + 1)) << "an odd number";
  EXPECT_EQ(invocations_of(trial({1, 2, 1, 16}, 4, "half_split", "f32")), 2 * 16) << "a half is no quad";
  EXPECT_EQ(invocations_of(trial({1, 1, 1, 15}, 4, "interleaved", "f16")), 8) << "words of two";
}

TEST_F(RotaryEmbeddingTest, InTexturesHeadsBeginWithATexelAndAnInvocationMakesOneOrTwo) {
  const auto of = [&](std::int64_t width, std::int64_t turned, const std::string& pairs) {
    return invocations_of(in_textures(trial({2, 3, 5, width}, turned, pairs, "f16"))) / 30;
  };
  EXPECT_EQ(of(16, 8, "half_split"), 1 + 2);
  EXPECT_EQ(of(16, 8, "interleaved"), 1 + 2);
  EXPECT_EQ(of(15, 8, "half_split"), 1 + 2) << "the last texel is not full";
  EXPECT_EQ(of(13, 12, "interleaved"), 3 + 1);
  EXPECT_EQ(of(13, 12, "half_split"), 4) << "a half is no quad";
  EXPECT_EQ(of(3, 2, "interleaved"), 1);
}

TEST_F(RotaryEmbeddingTest, TablesAreBuffersAndXAndYAreAlike) {
  const std::vector<TensorSpec> tensors = op.tensors(trial({1, 2, 1, 8}, 8, "half_split", "f32").params);
  EXPECT_EQ(tensors[1].forms, std::vector<Form>{rotary_form});
  EXPECT_EQ(tensors[2].forms, std::vector<Form>{rotary_form});
  Trial point = trial({1, 2, 1, 8}, 8, "half_split", "f32");
  EXPECT_EQ(refusal_of(point), "");
  EXPECT_EQ(refusal_of(in_textures(point)), "");
  point.forms[3] = {Storage::Texture3D, Layout::WP};
  EXPECT_THAT(
      refusal_of(point),
      testing::HasSubstr("x is buffer/WP and y is texture3d/WP: an invocation writes where it reads"));
}

TEST_F(RotaryEmbeddingTest, TexelsAreCountedWithTheirPadding) {
  const Trial point = trial({1, 1 << 15, 1 << 14, 3}, 2, "half_split", "f32");
  EXPECT_EQ(refusal_of(point), "");
  EXPECT_THAT(refusal_of(in_textures(point)), testing::HasSubstr("x: 2147483648 elements as texture3d/WP"));
}

TEST_F(RotaryEmbeddingTest, CountsTheRowsOfTheTablesThatAreRead) {
  const Params params = trial({2, 3, 4, 8}, 4, "half_split", "f16", 100).params;
  const std::vector<TensorSpec> tensors = op.tensors(params);
  EXPECT_EQ(tensors[1].shape, (Shape{103, 2}));
  const Work work = op.work(params, tensors);
  EXPECT_EQ(work.bytes_read, 2 * 3 * 4 * 8 * 2 + 2 * 3 * 2 * 4);
  EXPECT_EQ(work.bytes_written, 2 * 3 * 4 * 8 * 2);
  EXPECT_EQ(work.operations, 3 * 2 * 3 * 4 * 4);
}

}  // namespace
}  // namespace assay::ops
