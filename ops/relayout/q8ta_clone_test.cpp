#include "ops/registry.h"
#include "tests/support/on_device.h"

#include <algorithm>

namespace assay::ops {
namespace {

using namespace test;

Params clone_params(const Shape& shape) {
  Params params;
  params.set("shape", shape);
  return params;
}

bool is_deep(const Dispatch& dispatch) {
  const auto& defines = dispatch.defines;
  return std::find(defines.begin(), defines.end(), Define{"DEEP", "1"}) != defines.end();
}

class CloneOpTest : public OnDeviceTest {
 protected:
  /// Each of the 25 pairs of layouts.
  void expect_right_in_every_pair(const Shape& shape, const std::map<std::string, std::int64_t>& tune = {}) {
    const Params params = clone_params(shape);
    const std::vector<Form> forms = op->tensors(params).front().forms;
    EXPECT_EQ(forms.size(), 5U);
    for (const Form x : forms) {
      for (const Form y : forms) {
        expect_right({.op = op, .params = params, .forms = {x, y}, .fill = FillKind::Uniform, .tune = tune});
      }
    }
  }

  Registry ops = registry();
  const Op* op = ops.find("q8ta_clone");
};

TEST_F(CloneOpTest, MovesTailsOfEveryAxisAndBatches) {
  expect_right_in_every_pair({2, 5, 3, 7});
}

TEST_F(CloneOpTest, MovesWholeTiles) {
  expect_right_in_every_pair({2, 8, 4, 12});
}

TEST_F(CloneOpTest, MovesTensorsThatAreThinAlongAnAxis) {
  expect_right_in_every_pair({1, 9, 6, 1});
  expect_right_in_every_pair({3, 1, 1, 4});
}

TEST_F(CloneOpTest, MovesTensorsOfManyBoxes) {
  expect_right_in_every_pair({2, 37, 41, 43});
}

TEST_F(CloneOpTest, IsRightWithAnyTunedLocalSize) {
  for (const std::int64_t local_size : {1, 7, 1024}) {
    expect_right_in_every_pair({2, 21, 6, 19}, {{"local_size", local_size}});
  }
}

TEST_F(CloneOpTest, AgreesWithItsReferenceOnRandomShapes) {
  Draw draw(51);
  for (int round = 0; round < 40 && !HasFatalFailure(); ++round) {
    const Params params = clone_params(draw.shape(11));
    expect_right({.op = op,
                  .params = params,
                  .forms = draw.forms(op->tensors(params)),
                  .fill = FillKind::Uniform,
                  .seed = static_cast<std::uint64_t>(round)});
  }
}

TEST_F(CloneOpTest, WritesVectorsTo4CFromTensorsThatAreLarge) {
  const Form p4c{Storage::Buffer, Layout::P4C};
  for (const Layout from : {Layout::P4W, Layout::P4H4W}) {
    for (const Shape& shape : {Shape{3, 16, 43691, 1}, Shape{1, 32, 32769, 5}}) {
      const Trial trial{.op = op,
                        .params = clone_params(shape),
                        .forms = {{Storage::Buffer, from}, p4c},
                        .fill = FillKind::Uniform};
      EXPECT_TRUE(is_deep(program_of(trial).dispatches.front())) << trial.describe();
      expect_right(trial);
    }
  }
}

TEST_F(CloneOpTest, WritesNoVectorsWhereBlocksOfChannelsAreNoMultipleOfFourOrTheTensorIsSmall) {
  const std::vector<Form> forms{{Storage::Buffer, Layout::P4W}, {Storage::Buffer, Layout::P4C}};
  const auto deep = [&](const Shape& shape) {
    return is_deep(program_of({.op = op, .params = clone_params(shape), .forms = forms}).dispatches.front());
  };
  EXPECT_TRUE(deep({1, 16, 131072, 1}));
  EXPECT_FALSE(deep({1, 16, 131071, 1}));
  EXPECT_FALSE(deep({1, 20, 131072, 1}));
  EXPECT_FALSE(deep({1, 15, 131072, 1}));
}

TEST_F(CloneOpTest, DeclaresThatACopyIsRight) {
  EXPECT_FALSE(op->tensors(clone_params({4})).back().copy_because.empty());
}

}  // namespace
}  // namespace assay::ops
