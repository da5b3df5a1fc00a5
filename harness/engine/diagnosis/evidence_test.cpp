#include "harness/engine/diagnosis/evidence.h"

#include "harness/base/error.h"
#include "harness/engine/diagnosis/diagnosis_test_support.h"
#include "tests/support/small_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace assay {
namespace {

using test::Wronged;
using ::testing::ElementsAre;

TEST(ReferenceProbe, AsksUntilTheBudgetIsSpent) {
  const Wronged wronged(test::row_quantize_op(), test::row_params(2, 4));
  ReferenceProbe probe = wronged.probe(5000);
  int answers = 0;
  while (answers < 100 && probe.ask(probe.here())) ++answers;
  EXPECT_GT(answers, 0);
  EXPECT_LT(answers, 6);
  EXPECT_FALSE(probe.can_afford(1));
}

/// The op writes 64 bytes of a tensor of 4 MB; an answer has all of them.
TEST(ReferenceProbe, PaysForTensorsOfWhichLittleIsTouched) {
  Op op = test::overwrite_op(1 << 20);
  op.work = [](const Params&, std::span<const TensorSpec>) {
    return Work{.bytes_read = 64, .bytes_written = 64};
  };
  const Wronged wronged(op, test::shape_params({16}));
  const ReferenceProbe probe = wronged.probe();
  EXPECT_TRUE(probe.can_afford(1));
  EXPECT_FALSE(probe.can_afford(10));
}

TEST(ReferenceProbe, PaysForTheTimeOfPrograms) {
  bool fails = false;
  Op op = test::row_quantize_op();
  op.answer_version = [] { return "1"; };
  op.reference = [&](const Params& params, std::span<const HostTensor> inputs) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    if (fails) throw Error("it takes too long");
    return test::row_quantize_op().reference(params, inputs);
  };
  const Wronged wronged(op, test::row_params(2, 4));
  for (const bool it_fails : {false, true}) {
    fails = it_fails;
    ReferenceProbe probe = wronged.probe(ReferenceProbe::default_budget / 4);
    EXPECT_TRUE(probe.can_afford(2));
    EXPECT_EQ(probe.ask(probe.here()).has_value(), !fails);
    EXPECT_FALSE(probe.can_afford(1)) << fails;
  }
}

TEST(ReferenceProbe, RefusesInputsThatDoNotFit) {
  const Wronged wronged(test::row_quantize_op(), test::row_params(2, 4));
  ReferenceProbe probe = wronged.probe();
  Point point = probe.here();
  point.params.set("rows", std::int64_t{3});
  EXPECT_FALSE(probe.ask(point).has_value());
}

TEST(ReferenceProbe, SpendsNothingOnInputsThatDoNotFit) {
  const Wronged wronged(test::row_quantize_op(), test::row_params(2, 4));
  ReferenceProbe probe = wronged.probe(5000);
  Point point = probe.here();
  point.params.set("rows", std::int64_t{3});
  for (int round = 0; round < 100; ++round) EXPECT_FALSE(probe.ask(point).has_value());
  EXPECT_TRUE(probe.ask(probe.here()).has_value());
}

// A reference reads at an index without looking: a negated one would be read before the tensor.
TEST(ReferenceProbe, RefusesIndicesOutsideOfTheirDomain) {
  Op op = test::row_quantize_op();
  op.tensors = [](const Params& params) {
    std::vector<TensorSpec> tensors = test::row_quantize_op().tensors(params);
    tensors[2].domain = {FillRole::Index, -16, 16};
    return tensors;
  };
  const Wronged wronged(op, test::row_params(2, 4));
  ReferenceProbe probe = wronged.probe();
  Point point = probe.here();
  for (const double index : {-16.0, 16.0}) {
    set_element(point.inputs[2], 1, index);
    EXPECT_TRUE(probe.ask(point).has_value()) << index;
  }
  for (const double index : {-17.0, 17.0}) {
    set_element(point.inputs[2], 1, index);
    EXPECT_FALSE(probe.ask(point).has_value()) << index;
  }
}

TEST(Cropped, KeepsTheFirstIndices) {
  HostTensor tensor(DType::I8, {2, 3});
  for (std::int64_t i = 0; i < 6; ++i) set_element(tensor, i, static_cast<double>(i));
  const auto part = cropped(tensor, {2, 2});
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->at(2), 3);
  EXPECT_FALSE(cropped(tensor, {3, 2}).has_value());
  EXPECT_FALSE(cropped(tensor, {6}).has_value());
}

TEST(SetElement, RoundsAndClampsIntegers) {
  HostTensor bytes(DType::I8, {3});
  set_element(bytes, 0, 300);
  set_element(bytes, 1, -2.5);
  EXPECT_EQ(bytes.at(0), 127);
  EXPECT_EQ(bytes.at(1), -2);
  HostTensor halves(DType::F16, {1});
  set_element(halves, 0, 0.5);
  EXPECT_EQ(halves.at(0), 0.5);
}

/// Zero of the last of four integers that have that many zero points: 1, 2, ...
double zero_of_last(std::int64_t zero_points) {
  const auto integers = [](const char* name, std::int64_t values) {
    return TensorSpec{.name = name, .dtype = DType::I32, .shape = {values}};
  };
  Case test_case;
  test_case.tensors = std::vector<TensorSpec>{integers("x", 4), integers("x_zero_point", zero_points)};
  Point point{.params = {}, .inputs = {HostTensor(DType::I32, {4}), HostTensor(DType::I32, {zero_points})}};
  for (std::int64_t i = 0; i < zero_points; ++i) set_element(point.inputs[1], i, static_cast<double>(i) + 1);
  return zero_of_input(test_case, point, 0, 3);
}

/// More zero points than values were divided by 0, and others were read past their end.
TEST(ZeroOfInput, IsThatOfItsRowWhereRowsHaveOne) {
  EXPECT_EQ(zero_of_last(1), 1);
  EXPECT_EQ(zero_of_last(2), 2);
  EXPECT_EQ(zero_of_last(4), 4);
  EXPECT_EQ(zero_of_last(3), 0);
  EXPECT_EQ(zero_of_last(8), 0);
}

TEST(MadeFrom, NamesTheValueTheScaleAndTheZeroPoint) {
  const Wronged wronged(test::row_quantize_op(), test::row_params(3, 8));
  ReferenceProbe probe = wronged.probe();
  EXPECT_THAT(made_from(wronged.test_case(), probe, 8 + 2),
              ElementsAre("x[1,2]=3.875", "scale[1]=0.3125", "zero_point[1]=5"));
}

TEST(MadeFrom, NamesTheEndsOfALongSum) {
  const Wronged wronged(test::product_op(), test::product_params(3, 24, 4));
  ReferenceProbe probe = wronged.probe();
  const std::vector<std::string> parts = made_from(wronged.test_case(), probe, 4 + 1);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_TRUE(parts[0].starts_with("x[1,0]=")) << parts[0];
  EXPECT_NE(parts[0].find(" to x[1,23]="), std::string::npos) << parts[0];
  EXPECT_NE(parts[1].find(" to w[1,23]="), std::string::npos) << parts[1];
  EXPECT_TRUE(parts[2].starts_with("bias[1]=")) << parts[2];
}

TEST(MadeFrom, IsSilentWhereAskingIsTooDear) {
  const Wronged wronged(test::product_op(), test::product_params(3, 24, 4));
  ReferenceProbe probe = wronged.probe(1);
  EXPECT_THAT(made_from(wronged.test_case(), probe, 0), ElementsAre());
}

}  // namespace

}  // namespace assay
