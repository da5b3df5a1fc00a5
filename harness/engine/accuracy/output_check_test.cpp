#include "harness/engine/accuracy/output_check.h"

#include "tests/support/small_op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace assay {
namespace {

using test::banded;
using test::bounded;
using test::exact;
using test::row;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float denormal = 0x1p-130F;

std::vector<std::int8_t> bytes(std::initializer_list<int> values) {
  std::vector<std::int8_t> made;
  for (const int value : values) made.push_back(static_cast<std::int8_t>(value));
  return made;
}

HostTensor i8(std::initializer_list<int> values) {
  return row<std::int8_t>(bytes(values));
}

HostTensor f32(const std::vector<float>& values) {
  return row<float>(values);
}

HostTensor f16(const std::vector<float>& values) {
  std::vector<Half> halves;
  for (const float value : values) halves.push_back(to_half(value));
  return row<Half>(halves);
}

TEST(JudgeExact, EqualIntegersPass) {
  const OutputCheck check = check_output(exact(i8({-128, 0, 127})), i8({-128, 0, 127}));
  EXPECT_TRUE(check.pass);
  EXPECT_EQ(check.mismatches, 0);
  EXPECT_FALSE(check.first_bad.has_value());
  EXPECT_EQ(check.err_over_bound, 0);
}

TEST(JudgeExact, EveryOtherIntegerIsCountedAndTheFirstIsNamed) {
  const OutputCheck check = check_output(exact(i8({1, 2, 3, 4, 5})), i8({1, 3, 3, 0, 5}));
  EXPECT_FALSE(check.pass);
  EXPECT_FALSE(check.too_many_flips);
  EXPECT_EQ(check.mismatches, 2);
  EXPECT_EQ(check.first_bad, 1);
  EXPECT_EQ(check.max_abs_err, 4);
  EXPECT_EQ(check.err_over_bound, inf);
}

TEST(JudgeExact, ToleranceNeverLoosensIt) {
  EXPECT_FALSE(check_output(exact(i8({1, 2})), i8({1, 3}), 1e9).pass);
}

TEST(JudgeExact, FloatsNeedTheSameBits) {
  EXPECT_TRUE(check_output(exact(f32({1.5F, -2.25F})), f32({1.5F, -2.25F})).pass);
  EXPECT_FALSE(check_output(exact(f32({1.5F})), f32({std::nextafter(1.5F, 2.0F)})).pass);
}

TEST(JudgeExact, AnyNanIsAnyNanButNothingElse) {
  EXPECT_TRUE(check_output(exact(f32({nan})), f32({-nan})).pass);
  for (const float other : {0.0F, 1.0F, inf}) {
    const OutputCheck check = check_output(exact(f32({nan})), f32({other}));
    EXPECT_FALSE(check.pass) << other;
    EXPECT_EQ(check.max_abs_err, inf) << other;
  }
  EXPECT_FALSE(check_output(exact(f32({1.0F})), f32({nan})).pass);
}

TEST(JudgeExact, InfinitiesKeepTheirSign) {
  EXPECT_TRUE(check_output(exact(f32({inf, -inf})), f32({inf, -inf})).pass);
  EXPECT_FALSE(check_output(exact(f32({inf})), f32({-inf})).pass);
  EXPECT_FALSE(check_output(exact(f32({inf})), f32({std::numeric_limits<float>::max()})).pass);
}

TEST(JudgeExact, MinusZeroIsNotZeroAndSpendsMoreThanAnyBound) {
  const OutputCheck check = check_output(exact(f32({0.0F, 1.0F})), f32({-0.0F, 1.0F}));
  EXPECT_FALSE(check.pass);
  EXPECT_EQ(check.mismatches, 1);
  EXPECT_EQ(check.err_over_bound, inf);
  EXPECT_FALSE(check_output(exact(f32({-0.0F})), f32({0.0F})).pass);
}

TEST(JudgeExact, ADeviceMayFlushDenormalsToEitherZero) {
  const OutputCheck check =
      check_output(exact(f32({denormal, denormal, -denormal})), f32({0.0F, -0.0F, 0.0F}));
  EXPECT_TRUE(check.pass);
  EXPECT_EQ(check.err_over_bound, 0) << "a flushed denormal has no bound to spend";
  EXPECT_FALSE(check_output(exact(f32({0x1p-126F})), f32({0.0F})).pass)
      << "the smallest normal number must stay";
  EXPECT_FALSE(check_output(exact(f32({denormal})), f32({2 * denormal})).pass);
  EXPECT_FALSE(check_output(exact(f32({0.0F})), f32({denormal})).pass)
      << "flushing makes zeros, not denormals";
}

TEST(JudgeExact, HalvesAreComparedAsHalvesAndKeepTheirDenormals) {
  EXPECT_TRUE(check_output(exact(f16({1.0F, 0x1p-24F, nan})), f16({1.0F, 0x1p-24F, nan})).pass);
  EXPECT_FALSE(check_output(exact(f16({1.0F})), f16({1.0F + 0x1p-10F})).pass);
  EXPECT_FALSE(check_output(exact(f16({0x1p-24F})), f16({0.0F})).pass);
  EXPECT_FALSE(check_output(exact(f16({0.0F})), f16({-0.0F})).pass);
}

TEST(JudgeBanded, TheOtherIntegerOfTheBandIsAFlip) {
  const Expected expected = banded(i8({10, 20, 30, 40}), bytes({1, -1, 0, 1}), 2);
  const OutputCheck check = check_output(expected, i8({11, 19, 30, 40}));
  EXPECT_TRUE(check.pass);
  EXPECT_EQ(check.flips, 2);
  EXPECT_EQ(check.mismatches, 0);
  EXPECT_DOUBLE_EQ(check.err_over_bound, 2 / allowed_flips(expected));
}

TEST(JudgeBanded, TheWrongSideOfTheBandAndOutsideOfItAreMismatches) {
  const Expected expected = banded(i8({10, 20, 30}), bytes({1, -1, 0}), 2);
  EXPECT_EQ(check_output(expected, i8({9, 20, 30})).first_bad, 0);
  EXPECT_EQ(check_output(expected, i8({10, 21, 30})).first_bad, 1);
  EXPECT_EQ(check_output(expected, i8({10, 20, 31})).first_bad, 2)
      << "on an exact tie the integer must match";
  EXPECT_EQ(check_output(expected, i8({12, 20, 30})).mismatches, 1);
  EXPECT_EQ(check_output(expected, i8({12, 20, 30})).err_over_bound, inf);
}

TEST(JudgeBanded, FarMoreFlipsThanExpectedFailTheRow) {
  const std::size_t count = 1000;
  const Expected expected =
      banded(row(std::vector<std::int8_t>(count, 5)), std::vector<std::int8_t>(count, 1), 4);
  const auto with_flips = [&](std::size_t flips) {
    std::vector<std::int8_t> values(count, 5);
    std::fill_n(values.begin(), flips, std::int8_t{6});
    return row(values);
  };
  const double allowed = allowed_flips(expected);
  ASSERT_GT(allowed, 4) << "chance must not fail a row";
  ASSERT_LT(allowed, 40) << "ten times the expected number is no chance";
  EXPECT_TRUE(check_output(expected, with_flips(static_cast<std::size_t>(allowed))).pass);
  const OutputCheck check = check_output(expected, with_flips(static_cast<std::size_t>(allowed) + 1));
  EXPECT_FALSE(check.pass);
  EXPECT_TRUE(check.too_many_flips);
  EXPECT_EQ(check.mismatches, 0);
  EXPECT_GT(check.err_over_bound, 1);
}

TEST(JudgeBanded, NoFlipIsAllowedWhereNoneIsExpected) {
  const OutputCheck check = check_output(banded(i8({1, 2}), bytes({1, 1}), 0), i8({2, 2}));
  EXPECT_FALSE(check.pass);
  EXPECT_TRUE(check.too_many_flips);
}

TEST(JudgeBanded, ToleranceZeroMakesItExact) {
  const Expected expected = banded(i8({10, 20}), bytes({1, 1}), 2);
  EXPECT_TRUE(check_output(expected, i8({10, 20}), 0).pass);
  EXPECT_EQ(check_output(expected, i8({11, 20}), 0).mismatches, 1);
}

TEST(JudgeBounded, TheBoundItselfIsAcceptedAndNothingBeyond) {
  const Expected expected = bounded(f32({1.0F, 100.0F}), {0.25F, 0.5F});
  const OutputCheck at_bound = check_output(expected, f32({1.25F, 99.75F}));
  EXPECT_TRUE(at_bound.pass);
  EXPECT_DOUBLE_EQ(at_bound.err_over_bound, 1);
  EXPECT_DOUBLE_EQ(at_bound.max_abs_err, 0.25);
  const OutputCheck beyond = check_output(expected, f32({1.0F, 100.75F}));
  EXPECT_EQ(beyond.first_bad, 1);
  EXPECT_DOUBLE_EQ(beyond.err_over_bound, 1.5);
}

TEST(JudgeBounded, ToleranceScalesTheBound) {
  const Expected expected = bounded(f32({1.0F}), {0.25F});
  EXPECT_FALSE(check_output(expected, f32({1.25F}), 0.5).pass);
  EXPECT_DOUBLE_EQ(check_output(expected, f32({1.125F}), 0.5).err_over_bound, 1);
  EXPECT_TRUE(check_output(expected, f32({1.5F}), 2).pass);
  EXPECT_TRUE(check_output(expected, f32({1.0F}), 0).pass);
  EXPECT_FALSE(check_output(expected, f32({std::nextafter(1.0F, 2.0F)}), 0).pass);
}

TEST(JudgeBounded, NanAndInfinityAreNoErrorsOnlyWhereTheyAreExpected) {
  const Expected finite = bounded(f32({1.0F}), {1e30F});
  EXPECT_FALSE(check_output(finite, f32({nan})).pass);
  EXPECT_FALSE(check_output(finite, f32({inf})).pass);
  EXPECT_EQ(check_output(finite, f32({nan})).err_over_bound, inf);
  EXPECT_TRUE(check_output(bounded(f32({nan, -inf}), {1.0F, 1.0F}), f32({nan, -inf})).pass);
  EXPECT_FALSE(check_output(bounded(f32({-inf}), {1.0F}), f32({inf})).pass);
  EXPECT_FALSE(check_output(bounded(f32({nan}), {1.0F}), f32({0.0F})).pass);
}

TEST(JudgeBounded, AnElementWithoutBoundMustBeEqual) {
  const Expected expected = bounded(f32({1.0F, 2.0F}), {0.0F, 1.0F});
  EXPECT_TRUE(check_output(expected, f32({1.0F, 2.5F})).pass);
  const OutputCheck check = check_output(expected, f32({1.0F + 0x1p-20F, 2.0F}));
  EXPECT_FALSE(check.pass);
  EXPECT_EQ(check.err_over_bound, inf);
}

TEST(Judge, FindsErrorsInEveryChunkOfALargeTensor) {
  const std::int64_t count = 1'000'003;  // more than a chunk for each of many threads, and a tail
  HostTensor want(DType::I32, {count});
  for (std::int64_t i = 0; i < count; ++i)
    want.as<std::int32_t>()[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i);
  HostTensor got = want;
  const std::vector<std::size_t> places = {65'535, 65'536, 131'072, 500'000, 777'777, 1'000'002};
  for (const std::size_t place : places) got.as<std::int32_t>()[place] -= 2;
  got.as<std::int32_t>()[777'777] -= 5;
  const OutputCheck check = check_output(exact(want), got);
  EXPECT_EQ(check.mismatches, static_cast<std::int64_t>(places.size()));
  EXPECT_EQ(check.first_bad, 65'535);
  EXPECT_EQ(check.max_abs_err, 7);
}

TEST(Judge, CountsFlipsOfAllChunks) {
  const std::size_t count = 400'000;
  std::vector<std::int8_t> values(count, 3);
  for (std::size_t i = 0; i < count; i += 40'000) values[i] = 2;
  const OutputCheck check = check_output(
      banded(row(std::vector<std::int8_t>(count, 3)), std::vector<std::int8_t>(count, -1), 10), row(values));
  EXPECT_TRUE(check.pass);
  EXPECT_EQ(check.flips, 10);
}

TEST(Judge, RefusesAnAnswerOfAnotherTypeOrShape) {
  EXPECT_THROW(check_output(exact(i8({1, 2})), f32({1.0F, 2.0F})), std::logic_error);
  EXPECT_THROW(check_output(exact(i8({1, 2})), i8({1, 2, 3})), std::logic_error);
}

TEST(AbsoluteError, IsInfiniteWhereOnlyOneSideIsANumber) {
  EXPECT_EQ(absolute_error(1.0, 3.5), 2.5);
  EXPECT_EQ(absolute_error(nan, nan), 0);
  EXPECT_EQ(absolute_error(inf, inf), 0);
  EXPECT_EQ(absolute_error(inf, -inf), inf);
  EXPECT_EQ(absolute_error(nan, 1.0), inf);
  EXPECT_EQ(absolute_error(1.0, nan), inf);
}

TEST(Accepts, AgreesWithTheJudge) {
  const Expected expected = banded(i8({10, 20}), bytes({1, 0}), 1);
  EXPECT_TRUE(accepts(expected, 0, 10));
  EXPECT_TRUE(accepts(expected, 0, 11));
  EXPECT_FALSE(accepts(expected, 0, 9));
  EXPECT_FALSE(accepts(expected, 1, 21));
}

}  // namespace
}  // namespace assay
