#include "harness/commands/judge/variation.h"

#include "harness/cases/expansion/load.h"
#include "harness/commands/points/draw.h"
#include "ops/registry.h"
#include "tests/support/small_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <set>

namespace assay::app {
namespace {

const Registry& one_op_registry() {
  static const Registry made = ops::registry();
  return made;
}

Params relu_params() {
  Params params;
  params.set("shape", std::vector<std::int64_t>{2, 5, 6, 7});
  params.set("x", QParams{0.5F, 3});
  params.set("y", QParams{0.25F, -9});
  return params;
}

TEST(DrawnSize, IsOneAMultipleAndItsNeighbourAPrimeAndAnyOtherSoonerOrLater) {
  Draw draw(7);
  std::set<std::int64_t> sizes;
  for (int i = 0; i < 2000; ++i) sizes.insert(drawn_size(draw));
  for (const std::int64_t wanted :
       {1, 2, 3, 4, 5, 7, 8, 14, 22, 27, 31, 32, 33, 58, 63, 64, 65, 127, 255, 256, 257})
    EXPECT_TRUE(sizes.contains(wanted)) << wanted;
  EXPECT_GE(*sizes.begin(), 1);
  EXPECT_LE(*sizes.rbegin(), 300);
}

TEST(Mutation, IsThatOfItsSeed) {
  const Op& op = *one_op_registry().find("q8ta_relu");
  Draw a(11);
  Draw b(11);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(mutated(op, relu_params(), a).canonical(), mutated(op, relu_params(), b).canonical());
}

TEST(Mutation, ChangesSizesAlone) {
  const Op& op = *one_op_registry().find("q8ta_relu");
  Draw draw(3);
  std::set<std::string> shapes;
  for (int i = 0; i < 50; ++i) {
    const Params made = mutated(op, relu_params(), draw);
    EXPECT_EQ(made.ints("shape").size(), 4U);
    EXPECT_EQ(made.qparams("x"), relu_params().qparams("x"));
    shapes.insert(to_string(made.at("shape")));
  }
  EXPECT_GT(shapes.size(), 30U);
}

/// The sum with the old value and its magnitude were beyond 64 bits.
TEST(Variation, KeepsIntegersOfTheWhole64BitRangeInTheirRange) {
  using Limits = std::numeric_limits<std::int64_t>;
  Op op = *one_op_registry().find("q8ta_relu");
  op.params.push_back(integer("end").at_least(Limits::min()).at_most(Limits::max() - 1));
  for (const std::int64_t end : {Limits::min(), Limits::max() - 1}) {
    Case like;
    like.op = &op;
    like.impl = &op.impls.front();
    Params params = relu_params();
    params.set("end", end);
    like.params = params;
    like.tensors = op.tensors(params);
    for (const TensorSpec& tensor : *like.tensors) like.forms.push_back(tensor.forms.front());
    Draw draw(5);
    std::set<std::int64_t> ends;
    for (int i = 0; i < 400; ++i) {
      const std::optional<Case> made = varied(like, {}, draw);
      if (!made) continue;
      const std::int64_t drawn = made->params->integer("end");
      EXPECT_EQ(drawn < 0, end < 0) << "the change is about half of the value";
      EXPECT_LT(drawn, Limits::max());
      ends.insert(drawn);
    }
    EXPECT_GE(ends.size(), 10U);
  }
}

/// 2^63 is no signed integer, and what it was rounded to became the least value.
TEST(Variation, TunablesMayReachTheEndOfTheRange) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  Op op = test::flip_op();
  op.impls.front().tunables = {{.name = "tile", .min = most - 9, .max = most, .doc = "rows"}};
  const Case like = test::make_case(op, test::shape_params({2, 16}));
  Draw draw(5);
  int tuned = 0;
  for (int i = 0; i < 800; ++i) {
    const std::optional<Case> made = varied(like, {}, draw);
    if (!made || made->tune.empty()) continue;
    ++tuned;
    EXPECT_EQ(made->tune.at("tile"), most);
  }
  EXPECT_GE(tuned, 40);
}

}  // namespace

}  // namespace assay::app
