#include "ops/registry.h"
#include "tests/support/on_device.h"

namespace assay::ops {
namespace {

using namespace test;

class SiluMulTest : public OnDeviceTest {
 protected:
  static Trial trial(const Shape& shape, const std::string& dtype) {
    Params params;
    params.set("shape", shape);
    params.set("dtype", dtype);
    return {.params = params, .forms = std::vector<Form>(3, Form{Storage::Buffer, Layout::WP})};
  }

  Registry ops = registry();
  const Op& op = *ops.find("silu_mul");
};

TEST_F(SiluMulTest, AgreesWithItsReferenceOnRandomPoints) {
  Draw draw(91);
  for (int round = 0; round < 60 && !HasFatalFailure(); ++round) {
    Trial point = trial(draw.shape(9), draw.one_of<std::string>({"f32", "f16"}));
    point.op = &op;
    point.seed = static_cast<std::uint64_t>(round);
    point.fill = draw.one_of<FillKind>({FillKind::Normal, FillKind::Wide, FillKind::Saturate,
                                        FillKind::Special, FillKind::Mixed, FillKind::Nan});
    if (round % 3 == 0) point.tune = {{"local_size", draw.one_of<std::int64_t>({1, 7, 64})}};
    if (round % 4 == 0) point.tune["vectors_per_invocation"] = draw.pick(1, 4);
    expect_right(point);
  }
}

TEST_F(SiluMulTest, AVectorIsSixteenBytesWhereTheTensorHasWholeOnes) {
  for (const auto& [width, dtype, vectors] : {std::tuple(8, "f32", 2), std::tuple(6, "f32", 6),
                                              std::tuple(16, "f16", 2), std::tuple(15, "f16", 8)}) {
    Trial point = trial({width}, dtype);
    point.op = &op;
    point.tune = {{"local_size", 1}, {"vectors_per_invocation", 1}};
    EXPECT_EQ(program_of(point).dispatches[0].workgroups[0], static_cast<std::uint32_t>(vectors)) << width;
  }
}

TEST_F(SiluMulTest, ItsWorkIsThreeTensors) {
  const Params params = trial({3, 5}, "f16").params;
  const Work work = op.work(params, op.tensors(params));
  EXPECT_EQ(work.bytes_read, 60);
  EXPECT_EQ(work.bytes_written, 30);
  EXPECT_EQ(work.operations, 60);
}

}  // namespace
}  // namespace assay::ops
