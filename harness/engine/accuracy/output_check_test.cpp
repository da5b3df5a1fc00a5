#include "harness/engine/accuracy/output_check.h"

#include "tests/support/outputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

namespace assay {
namespace {

using test::banded_output;
using test::bounded_output;
using test::exact_output;
using test::Output;
using test::row;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float denormal = 0x1p-130F;

HostTensor i8(std::initializer_list<int> values) {
  std::vector<std::int8_t> made;
  for (const int value : values) made.push_back(static_cast<std::int8_t>(value));
  return row<std::int8_t>(made);
}

HostTensor f32(const std::vector<float>& values) {
  return row<float>(values);
}

HostTensor f16(const std::vector<float>& values) {
  std::vector<Half> halves;
  for (const float value : values) halves.push_back(to_half(value));
  return row<Half>(halves);
}

OutputCheck check(const Output& output, const HostTensor& got, const AcceptanceTerms& terms = {}) {
  return check_output(output.accepting(terms), got);
}

AcceptanceTerms scaled(double scale) {
  return {.tolerance = {.scale = scale}};
}

TEST(JudgeExact, EqualIntegersPass) {
  const OutputCheck seen = check(exact_output(i8({-128, 0, 127})), i8({-128, 0, 127}));
  EXPECT_TRUE(seen.pass);
  EXPECT_EQ(seen.mismatches, 0);
  EXPECT_FALSE(seen.first_bad.has_value());
  EXPECT_EQ(seen.err_over_bound, 0);
}

TEST(JudgeExact, EveryOtherIntegerIsCountedAndTheFirstIsNamed) {
  const OutputCheck seen = check(exact_output(i8({1, 2, 3, 4, 5})), i8({1, 3, 3, 0, 5}));
  EXPECT_FALSE(seen.pass);
  EXPECT_FALSE(seen.too_many_flips);
  EXPECT_EQ(seen.mismatches, 2);
  EXPECT_EQ(seen.first_bad, 1);
  EXPECT_EQ(seen.max_abs_err, 4);
  EXPECT_EQ(seen.err_over_bound, inf);
}

TEST(JudgeExact, WhatWasNeverWrittenIsWrongButHasNoError) {
  const auto check_unwritten = [](std::initializer_list<int> got, std::int64_t first_unwritten) {
    return check_output(exact_output(i8({1, 2, 3, 4})).accepting({}), i8(got),
                        [=](std::int64_t i) { return i >= first_unwritten; });
  };
  const OutputCheck seen = check_unwritten({1, 2, 103, 104}, 2);
  EXPECT_FALSE(seen.pass);
  EXPECT_EQ(seen.mismatches, 2);
  EXPECT_EQ(seen.first_bad, 2);
  EXPECT_EQ(seen.max_abs_err, 0);
  EXPECT_EQ(seen.err_over_bound, inf);
  EXPECT_EQ(check_unwritten({4, 2, 103, 104}, 2).max_abs_err, 3) << "element 0 was written, and is wrong";
}

TEST(JudgeExact, NoScaleLoosensIt) {
  EXPECT_FALSE(check(exact_output(i8({1, 2})), i8({1, 3}), scaled(1e9)).pass);
}

TEST(JudgeExact, FloatsNeedTheSameBits) {
  EXPECT_TRUE(check(exact_output(f32({1.5F, -2.25F})), f32({1.5F, -2.25F})).pass);
  EXPECT_FALSE(check(exact_output(f32({1.5F})), f32({std::nextafter(1.5F, 2.0F)})).pass);
}

TEST(JudgeExact, AnyNanIsAnyNanButNothingElse) {
  EXPECT_TRUE(check(exact_output(f32({nan})), f32({-nan})).pass);
  for (const float other : {0.0F, 1.0F, inf}) {
    const OutputCheck seen = check(exact_output(f32({nan})), f32({other}));
    EXPECT_FALSE(seen.pass) << other;
    EXPECT_EQ(seen.max_abs_err, inf) << other;
  }
  EXPECT_FALSE(check(exact_output(f32({1.0F})), f32({nan})).pass);
}

TEST(JudgeExact, WhatIsKeptKeepsItsBits) {
  const auto passes = [](const std::vector<float>& values, const std::vector<float>& got,
                         const std::vector<std::uint8_t>& kept) {
    Output output = exact_output(f32(values));
    output.expected.kept = kept;
    return check(output, f32(got)).pass;
  };
  EXPECT_TRUE(passes({nan, denormal}, {-nan, 0.0F}, {0, 0})) << "what is written may be any NaN, or flushed";
  EXPECT_FALSE(passes({nan, denormal}, {-nan, denormal}, {1, 0})) << "another NaN";
  EXPECT_FALSE(passes({nan, denormal}, {nan, 0.0F}, {0, 1})) << "flushed";
  EXPECT_TRUE(passes({nan, denormal}, {nan, denormal}, {1, 1}));
}

TEST(JudgeBounded, NoBoundLoosensWhatIsKept) {
  Output output = bounded_output(f32({1, 1}), {1, 1});
  output.expected.kept = {0, 1};
  EXPECT_TRUE(check(output, f32({1.5F, 1})).pass);
  const OutputCheck seen = check(output, f32({1, 1.5F}));
  EXPECT_EQ(seen.mismatches, 1);
  EXPECT_EQ(seen.first_bad, 1);
}

TEST(JudgeExact, InfinitiesKeepTheirSign) {
  EXPECT_TRUE(check(exact_output(f32({inf, -inf})), f32({inf, -inf})).pass);
  EXPECT_FALSE(check(exact_output(f32({inf})), f32({-inf})).pass);
  EXPECT_FALSE(check(exact_output(f32({inf})), f32({std::numeric_limits<float>::max()})).pass);
}

TEST(JudgeExact, MinusZeroIsNotZeroAndSpendsMoreThanAnyBound) {
  const OutputCheck seen = check(exact_output(f32({0.0F, 1.0F})), f32({-0.0F, 1.0F}));
  EXPECT_FALSE(seen.pass);
  EXPECT_EQ(seen.mismatches, 1);
  EXPECT_EQ(seen.err_over_bound, inf);
  EXPECT_FALSE(check(exact_output(f32({-0.0F})), f32({0.0F})).pass);
}

TEST(JudgeExact, ADeviceMayFlushDenormalsToEitherZero) {
  const OutputCheck seen =
      check(exact_output(f32({denormal, denormal, -denormal})), f32({0.0F, -0.0F, 0.0F}));
  EXPECT_TRUE(seen.pass);
  EXPECT_EQ(seen.err_over_bound, 0) << "a flushed denormal has no bound to spend";
  EXPECT_FALSE(check(exact_output(f32({0x1p-126F})), f32({0.0F})).pass)
      << "the smallest normal number must stay";
  EXPECT_FALSE(check(exact_output(f32({denormal})), f32({2 * denormal})).pass);
  EXPECT_FALSE(check(exact_output(f32({0.0F})), f32({denormal})).pass)
      << "flushing makes zeros, not denormals";
}

TEST(JudgeExact, HalvesAreComparedAsHalvesAndKeepTheirDenormals) {
  EXPECT_TRUE(check(exact_output(f16({1.0F, 0x1p-24F, nan})), f16({1.0F, 0x1p-24F, nan})).pass);
  EXPECT_FALSE(check(exact_output(f16({1.0F})), f16({1.0F + 0x1p-10F})).pass);
  EXPECT_FALSE(check(exact_output(f16({0x1p-24F})), f16({0.0F})).pass);
  EXPECT_FALSE(check(exact_output(f16({0.0F})), f16({-0.0F})).pass);
}

// Values next to the ties at 10.5 and 19.5, an integer, an exact tie.
Output near_ties() {
  return banded_output(i8({10, 20, 30, 40}), {10.49, 19.51, 30, 40.5}, {1, 1, 1, 0});
}

AcceptanceTerms fiftieth() {
  return {.unit_error = 0.02};
}

TEST(JudgeBanded, TheOtherIntegerBesideATieIsAFlip) {
  const Output output = near_ties();
  const OutputCheck seen = check(output, i8({11, 19, 30, 40}), fiftieth());
  EXPECT_TRUE(seen.pass);
  EXPECT_EQ(seen.flips, 2);
  EXPECT_EQ(seen.mismatches, 0);
  EXPECT_DOUBLE_EQ(seen.err_over_bound, 2 / output.accepting(fiftieth()).allowed_flips());
}

TEST(JudgeBanded, TheWrongSideOfTheTieAndOutsideOfItsBandAreMismatches) {
  const Output output = near_ties();
  EXPECT_EQ(check(output, i8({9, 20, 30, 40}), fiftieth()).first_bad, 0);
  EXPECT_EQ(check(output, i8({10, 21, 30, 40}), fiftieth()).first_bad, 1);
  EXPECT_EQ(check(output, i8({10, 20, 31, 40}), fiftieth()).first_bad, 2);
  EXPECT_EQ(check(output, i8({12, 20, 30, 40}), fiftieth()).mismatches, 1);
  EXPECT_EQ(check(output, i8({12, 20, 30, 40}), fiftieth()).err_over_bound, inf);
}

TEST(JudgeBanded, OnAnExactTieOfExactStepsTheIntegerMustMatch) {
  EXPECT_EQ(check(near_ties(), i8({10, 20, 30, 41}), fiftieth()).first_bad, 3);
}

TEST(JudgeBanded, TheImplsUnitErrorDecidesHowNearATieIs) {
  const Output output = near_ties();
  EXPECT_EQ(check(output, i8({11, 20, 30, 40}), {.unit_error = 0.005}).first_bad, 0);
  EXPECT_EQ(check(output, i8({11, 20, 30, 40}), {.unit_error = 0}).first_bad, 0);
  EXPECT_TRUE(check(output, i8({11, 20, 30, 40}), {.unit_error = 0.011}).pass);
}

TEST(JudgeBanded, TwiceTheErrorOfEachElementIsExpectedToFlip) {
  EXPECT_DOUBLE_EQ(near_ties().accepting(fiftieth()).expected_flips(), 3 * 0.04);
  EXPECT_DOUBLE_EQ(near_ties().accepting({.unit_error = 9}).expected_flips(), 3)
      << "an element flips at most once";
  const Output clamped = banded_output(i8({127, -128}), {200, -130.5}, {1, 1});
  EXPECT_EQ(clamped.accepting(fiftieth()).expected_flips(), 0) << "what is clamped has no tie";
}

TEST(JudgeBanded, NoFlipLeavesTheRangeOfTheOutput) {
  Output output = banded_output(i8({7}), {7.49}, {1});
  EXPECT_TRUE(check(output, i8({8}), fiftieth()).pass);
  output.spec.domain = {.lo = -8, .hi = 7};
  EXPECT_FALSE(check(output, i8({8}), fiftieth()).pass);
}

TEST(JudgeBanded, FarMoreFlipsThanExpectedFailTheRow) {
  const std::size_t count = 1000;
  const Output output = banded_output(row(std::vector<std::int8_t>(count, 5)),
                                      std::vector<double>(count, 5.499), std::vector<float>(count, 1));
  const AcceptanceTerms terms{.unit_error = 0.002};  // 4 flips are expected
  const auto with_flips = [&](std::size_t flips) {
    std::vector<std::int8_t> values(count, 5);
    std::fill_n(values.begin(), flips, std::int8_t{6});
    return row(values);
  };
  const double allowed = output.accepting(terms).allowed_flips();
  ASSERT_GT(allowed, 4) << "chance must not fail a row";
  ASSERT_LT(allowed, 40) << "ten times the expected number is no chance";
  EXPECT_TRUE(check(output, with_flips(static_cast<std::size_t>(allowed)), terms).pass);
  const OutputCheck seen = check(output, with_flips(static_cast<std::size_t>(allowed) + 1), terms);
  EXPECT_FALSE(seen.pass);
  EXPECT_TRUE(seen.too_many_flips);
  EXPECT_EQ(seen.mismatches, 0);
  EXPECT_GT(seen.err_over_bound, 1);
}

TEST(JudgeBanded, ScaleZeroMakesItExact) {
  const AcceptanceTerms exact{.unit_error = 0.02, .tolerance = {.scale = 0}};
  EXPECT_TRUE(check(near_ties(), i8({10, 20, 30, 40}), exact).pass);
  EXPECT_EQ(check(near_ties(), i8({11, 20, 30, 40}), exact).mismatches, 1);
}

TEST(JudgeBounded, TheBoundItselfIsAcceptedAndNothingBeyond) {
  const Output output = bounded_output(f32({1.0F, 100.0F}), {0.25F, 0.5F});
  const OutputCheck at_bound = check(output, f32({1.25F, 99.75F}));
  EXPECT_TRUE(at_bound.pass);
  EXPECT_DOUBLE_EQ(at_bound.err_over_bound, 1);
  EXPECT_DOUBLE_EQ(at_bound.max_abs_err, 0.25);
  const OutputCheck beyond = check(output, f32({1.0F, 100.75F}));
  EXPECT_EQ(beyond.first_bad, 1);
  EXPECT_DOUBLE_EQ(beyond.err_over_bound, 1.5);
}

TEST(JudgeBounded, ToleranceScalesTheBound) {
  const Output output = bounded_output(f32({1.0F}), {0.25F});
  EXPECT_FALSE(check(output, f32({1.25F}), scaled(0.5)).pass);
  EXPECT_DOUBLE_EQ(check(output, f32({1.125F}), scaled(0.5)).err_over_bound, 1);
  EXPECT_TRUE(check(output, f32({1.5F}), scaled(2)).pass);
  EXPECT_TRUE(check(output, f32({1.0F}), scaled(0)).pass);
  EXPECT_FALSE(check(output, f32({std::nextafter(1.0F, 2.0F)}), scaled(0)).pass);
}

TEST(JudgeBounded, NanAndInfinityAreNoErrorsOnlyWhereTheyAreExpected) {
  const Output finite = bounded_output(f32({1.0F}), {1e30F});
  EXPECT_FALSE(check(finite, f32({nan})).pass);
  EXPECT_FALSE(check(finite, f32({inf})).pass);
  EXPECT_EQ(check(finite, f32({nan})).err_over_bound, inf);
  EXPECT_TRUE(check(bounded_output(f32({nan, -inf}), {1.0F, 1.0F}), f32({nan, -inf})).pass);
  EXPECT_FALSE(check(bounded_output(f32({-inf}), {1.0F}), f32({inf})).pass);
  EXPECT_FALSE(check(bounded_output(f32({nan}), {1.0F}), f32({0.0F})).pass);
}

TEST(JudgeBounded, AnInfiniteBoundAcceptsTheValueOrNanAndNothingElse) {
  const Output open = bounded_output(f32({0.0F, -inf}), {inf, inf});
  EXPECT_TRUE(check(open, f32({0.0F, -inf})).pass);
  const OutputCheck nans = check(open, f32({nan, nan}));
  EXPECT_TRUE(nans.pass);
  EXPECT_EQ(nans.max_abs_err, 0);
  EXPECT_EQ(nans.err_over_bound, 0);
  EXPECT_EQ(check(open, f32({0x1p-149F, -inf})).first_bad, 0);
  EXPECT_EQ(check(open, f32({nan, inf})).first_bad, 1);
  EXPECT_EQ(check(open, f32({1.0F, -inf})).err_over_bound, inf);
  EXPECT_EQ(check(open, f32({0.0F, inf})).err_over_bound, inf);
}

TEST(JudgeBounded, AnElementWithoutBoundMustBeEqual) {
  const Output output = bounded_output(f32({1.0F, 2.0F}), {0.0F, 1.0F});
  EXPECT_TRUE(check(output, f32({1.0F, 2.5F})).pass);
  const OutputCheck seen = check(output, f32({1.0F + 0x1p-20F, 2.0F}));
  EXPECT_FALSE(seen.pass);
  EXPECT_EQ(seen.err_over_bound, inf);
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
  const OutputCheck seen = check(exact_output(want), got);
  EXPECT_EQ(seen.mismatches, static_cast<std::int64_t>(places.size()));
  EXPECT_EQ(seen.first_bad, 65'535);
  EXPECT_EQ(seen.max_abs_err, 7);
}

TEST(Judge, CountsFlipsOfAllChunks) {
  const std::size_t count = 400'000;
  std::vector<std::int8_t> values(count, 3);
  for (std::size_t i = 0; i < count; i += 40'000) values[i] = 2;
  const Output output = banded_output(row(std::vector<std::int8_t>(count, 3)),
                                      std::vector<double>(count, 2.50001), std::vector<float>(count, 1));
  const OutputCheck seen = check(output, row(values), {.unit_error = 0.00002});
  EXPECT_TRUE(seen.pass);
  EXPECT_EQ(seen.flips, 10);
}

TEST(Judge, BoundedElementsOfAllBlocksAreJudgedAsEachAlone) {
  const std::size_t count = 70'001;
  const Output output = bounded_output(f16(std::vector<float>(count, 1)), std::vector<float>(count, 0.5F));
  std::vector<float> values(count, 1.25F);
  const OutputCheck right = check(output, f16(values));
  EXPECT_TRUE(right.pass);
  EXPECT_EQ(right.max_abs_err, 0.25);
  EXPECT_EQ(right.err_over_bound, 0.5);
  values[1'023] = 2;
  values[1'024] = nan;
  values[70'000] = -1;
  const OutputCheck seen = check(output, f16(values));
  EXPECT_EQ(seen.mismatches, 3);
  EXPECT_EQ(seen.first_bad, 1'023);
  EXPECT_EQ(seen.max_abs_err, inf) << "NaN is infinitely wrong";
  values[1'024] = 1;
  EXPECT_EQ(check(output, f16(values)).max_abs_err, 2);
  EXPECT_EQ(check(output, f16(values)).err_over_bound, 4);
}

TEST(Judge, RefusesAnAnswerOfAnotherTypeOrShape) {
  EXPECT_THROW(check(exact_output(i8({1, 2})), f32({1.0F, 2.0F})), std::logic_error);
  EXPECT_THROW(check(exact_output(i8({1, 2})), i8({1, 2, 3})), std::logic_error);
}

TEST(AbsoluteError, IsInfiniteWhereOnlyOneSideIsANumber) {
  EXPECT_EQ(absolute_error(1.0, 3.5), 2.5);
  EXPECT_EQ(absolute_error(nan, nan), 0);
  EXPECT_EQ(absolute_error(inf, inf), 0);
  EXPECT_EQ(absolute_error(inf, -inf), inf);
  EXPECT_EQ(absolute_error(nan, 1.0), inf);
  EXPECT_EQ(absolute_error(1.0, nan), inf);
}

TEST(JudgeBounded, TheImplsUnitErrorTimesTheMagnitudeIsAddedToTheBound) {
  Output output = bounded_output(f32({1.0F, 1.0F}), {0.25F, 0.25F});
  output.expected.magnitude = {2.0F, 0.0F};
  const AcceptanceTerms terms{.unit_error = 0.125};
  EXPECT_TRUE(check(output, f32({1.5F, 1.25F}), terms).pass);
  EXPECT_DOUBLE_EQ(check(output, f32({1.5F, 1.0F}), terms).err_over_bound, 1);
  EXPECT_EQ(check(output, f32({1.5625F, 1.0F}), terms).first_bad, 0);
  EXPECT_EQ(check(output, f32({1.0F, 1.5F}), terms).first_bad, 1) << "its magnitude is 0";
  EXPECT_EQ(check(output, f32({1.5F, 1.0F}), {.unit_error = 0.0625}).first_bad, 0)
      << "an impl that errs less is held to less";
}

TEST(JudgeBounded, AMagnitudeNeedsNoBound) {
  Output output = bounded_output(f32({8.0F}), {});
  output.expected.magnitude = {4.0F};
  EXPECT_TRUE(check(output, f32({9.0F}), {.unit_error = 0.25}).pass);
  EXPECT_FALSE(check(output, f32({9.0F}), {.unit_error = 0.125}).pass);
}

TEST(JudgeBounded, ValuesInDoubleAreComparedInDouble) {
  Output output = bounded_output(f32({1.0F}), {0x1p-30F});
  const HostTensor file = row<double>({1 + 0x1p-29});
  EXPECT_FALSE(check(output, f32({1.0F}), {.file = &file}).pass) << "as float32 they are equal";
  output.expected.bound = {0x1p-29F};
  EXPECT_TRUE(check(output, f32({1.0F}), {.file = &file}).pass);
}

TEST(JudgeBounded, WhatTheOutputCannotHoldIsItsInfinity) {
  const auto is_right = [](const HostTensor& got, double want, float bound) {
    const HostTensor file = row<double>({want});
    const OutputCheck seen = check(bounded_output(got, {bound}), got, {.file = &file});
    EXPECT_TRUE(!seen.pass || seen.max_abs_err <= bound);
    return seen.pass;
  };
  constexpr float most = std::numeric_limits<float>::max();
  EXPECT_TRUE(is_right(f32({-inf}), -1e60, most));
  for (const float wrong : {inf, nan, -most}) EXPECT_FALSE(is_right(f32({wrong}), -1e60, most));
  EXPECT_TRUE(is_right(f16({inf}), 1e5, 20));
  EXPECT_FALSE(is_right(f16({65504}), 1e5, 20));
  for (const float near : {65504.0F, inf}) EXPECT_TRUE(is_right(f16({near}), 65521, 20)) << near;
  EXPECT_FALSE(is_right(f16({inf}), 65519, 20)) << "rounded to 65504";
}

TEST(JudgeFile, ItsValuesAreJudgedAsTheClassSays) {
  const Output output = exact_output(i8({1, 2, 3}));
  const HostTensor file = i8({1, 2, 4});
  EXPECT_TRUE(check(output, i8({1, 2, 4}), {.file = &file}).pass);
  EXPECT_EQ(check(output, i8({1, 2, 3}), {.file = &file}).first_bad, 2);
}

TEST(Tolerance, OffByOneOfAShareOfTheElements) {
  const std::size_t count = 2000;
  const Output output = exact_output(row(std::vector<std::int8_t>(count, 5)));
  const HostTensor file = output.expected.values;
  const AcceptanceTerms terms{.tolerance = {.off_by = 1, .share = 0.001}, .file = &file};
  std::vector<std::int8_t> got(count, 5);
  got[7] = 6;
  got[9] = 4;
  const OutputCheck two = check(output, row(got), terms);
  EXPECT_TRUE(two.pass);
  EXPECT_EQ(two.tolerated, 2);
  EXPECT_EQ(two.mismatches, 0);
  EXPECT_EQ(two.err_over_bound, 1);
  got[11] = 6;
  const OutputCheck three = check(output, row(got), terms);
  EXPECT_FALSE(three.pass);
  EXPECT_TRUE(three.too_many_tolerated);
  EXPECT_EQ(three.mismatches, 3);
  EXPECT_EQ(three.first_bad, 7);
  EXPECT_DOUBLE_EQ(three.err_over_bound, 1.5);
}

TEST(Tolerance, OffByTwoIsNotOffByOne) {
  const Output output = exact_output(i8({1, 2, 3}));
  const HostTensor file = output.expected.values;
  const OutputCheck seen = check(output, i8({2, 4, 3}), {.tolerance = {.off_by = 1}, .file = &file});
  EXPECT_EQ(seen.mismatches, 1);
  EXPECT_EQ(seen.tolerated, 1);
  EXPECT_EQ(seen.first_bad, 1);
  EXPECT_EQ(seen.err_over_bound, 2);
}

TEST(Tolerance, CountsForFilesAndBoundedOutputsOnly) {
  const AcceptanceTerms wide{.tolerance = {.abs = 100, .off_by = 100}};
  EXPECT_FALSE(check(exact_output(i8({1})), i8({2}), wide).pass);
  EXPECT_FALSE(check(near_ties(), i8({9, 20, 30, 40}), wide).pass);
  EXPECT_TRUE(check(bounded_output(f32({1.0F}), {0.0F}), f32({2.0F}), wide).pass);
}

TEST(Tolerance, AbsoluteAndRelativeAddUp) {
  const Output output = bounded_output(f32({100.0F, 0.0F}), {0.0F, 0.0F});
  const AcceptanceTerms terms{.tolerance = {.abs = 0.5, .rel = 0.01}};
  EXPECT_TRUE(check(output, f32({101.5F, -0.5F}), terms).pass);
  EXPECT_EQ(check(output, f32({101.75F, 0.0F}), terms).first_bad, 0);
  EXPECT_EQ(check(output, f32({100.0F, 0.75F}), terms).first_bad, 1);
}

TEST(Tolerance, UnitsInTheLastPlaceAreThoseOfTheOutput) {
  const AcceptanceTerms two{.tolerance = {.ulp = 2}};
  const Output single = bounded_output(f32({1.0F}), {0.0F});
  EXPECT_TRUE(check(single, f32({1.0F + 0x1p-22F}), two).pass);
  EXPECT_FALSE(check(single, f32({1.0F + 3 * 0x1p-23F}), two).pass);
  const Output half = bounded_output(f16({1.0F}), {0.0F});
  EXPECT_TRUE(check(half, f16({1.0F + 0x1p-9F}), two).pass);
  EXPECT_FALSE(check(half, f16({1.0F + 3 * 0x1p-10F}), two).pass);
}

TEST(Tolerance, NeverMakesANumberOfNanOrInfinity) {
  const AcceptanceTerms wide{.tolerance = {.abs = 1e30, .rel = 1e30, .ulp = 1e30}};
  EXPECT_FALSE(check(bounded_output(f32({inf}), {0.0F}), f32({1.0F}), wide).pass);
  EXPECT_FALSE(check(bounded_output(f32({1.0F}), {0.0F}), f32({inf}), wide).pass);
  EXPECT_FALSE(check(bounded_output(f32({1.0F}), {0.0F}), f32({nan}), wide).pass);
  EXPECT_TRUE(check(bounded_output(f32({nan}), {0.0F}), f32({nan}), wide).pass);
}

TEST(UnitInLastPlace, IsThatOfTheDtype) {
  EXPECT_EQ(unit_in_last_place(DType::F32, 1), 0x1p-23);
  EXPECT_EQ(unit_in_last_place(DType::F32, -1.5), 0x1p-23);
  EXPECT_EQ(unit_in_last_place(DType::F32, 0.75), 0x1p-24);
  EXPECT_EQ(unit_in_last_place(DType::F32, 0), 0x1p-149);
  EXPECT_EQ(unit_in_last_place(DType::F32, 0x1p-140), 0x1p-149);
  EXPECT_EQ(unit_in_last_place(DType::F16, 1), 0x1p-10);
  EXPECT_EQ(unit_in_last_place(DType::F16, 0x1p-20), 0x1p-24);
  EXPECT_EQ(unit_in_last_place(DType::F32, inf), 0);
  EXPECT_EQ(unit_in_last_place(DType::I8, 3), 0);
}

std::string map_of(const Shape& shape, const std::set<std::int64_t>& bad) {
  return tile_map(shape, [&](std::int64_t i) { return bad.contains(i); });
}

TEST(TileMap, ShowsEveryElementOfASmallMatrix) {
  EXPECT_EQ(map_of({3, 4}, {1, 4, 11}),
            "errors by tile of 1 row x 1 column of 3 x 4 ('.' none wrong, '1'-'9' tenths wrong, '#' all)\n"
            ".#..\n"
            "#...\n"
            "...#");
}

TEST(TileMap, ARankOfOneIsOneLine) {
  EXPECT_EQ(map_of({5}, {4}),
            "errors by tile of 1 row x 1 column of 1 x 5 ('.' none wrong, '1'-'9' tenths wrong, '#' all)\n"
            "....#");
}

TEST(TileMap, FoldsAllDimsButTheLastIntoRows) {
  EXPECT_EQ(map_of({2, 2, 1, 3}, {3, 4, 5, 11}),
            "errors by tile of 1 row x 1 column of 4 x 3 ('.' none wrong, '1'-'9' tenths wrong, '#' all)\n"
            "...\n"
            "###\n"
            "...\n"
            "..#");
}

TEST(TileMap, ALastDimOfOneIsOneColumn) {
  EXPECT_EQ(map_of({2, 1}, {1}),
            "errors by tile of 1 row x 1 column of 2 x 1 ('.' none wrong, '1'-'9' tenths wrong, '#' all)\n"
            ".\n"
            "#");
}

TEST(TileMap, CountsTenthsInLargerTiles) {
  // 20 rows x 640 columns: tiles of 2 x 10 elements.
  std::set<std::int64_t> bad = {0};                                 // 1 of 20: less than a tenth
  for (std::int64_t i = 10; i < 20; ++i) bad.insert(i);             // 10 of 20
  for (std::int64_t i = 20; i < 30; ++i) bad.insert({i, 640 + i});  // all
  for (std::int64_t i = 30; i < 39; ++i) bad.insert({i, 640 + i});  // 18 of 20
  for (std::int64_t i = 40; i < 50; ++i) bad.insert({i, 640 + i});  // all but one
  bad.erase(45);
  const std::string text = map_of({20, 640}, bad);
  const std::string first =
      "errors by tile of 2 rows x 10 columns of 20 x 640"
      " ('.' none wrong, '1'-'9' tenths wrong, '#' all)\n15#99";
  EXPECT_EQ(text.substr(0, first.size()), first);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
}

TEST(TileMap, StaysWithin64By16) {
  const Shape shape = {3, 5, 7, 1000};
  const std::string text = map_of(shape, {numel(shape) - 1});
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "errors by tile of 7 rows x 16 columns of 105 x 1000 ('.' none wrong, '1'-'9' tenths wrong, "
            "'#' all)");
  const std::string picture = text.substr(text.find('\n') + 1);
  EXPECT_EQ(std::count(picture.begin(), picture.end(), '\n') + 1, 15);
  EXPECT_EQ(picture.find('\n'), 63U);
  EXPECT_EQ(picture.back(), '1') << "the last tile holds the only error";
  EXPECT_EQ(picture.find_first_not_of(".\n"), picture.size() - 1);
}

TEST(TileMap, ASmallerTileAtTheEdgeIsFullWhenAllItsElementsAreWrong) {
  std::set<std::int64_t> bad;
  for (std::int64_t i = 126; i < 129; ++i) bad.insert(i);
  const std::string text = map_of({129}, bad);  // tiles of 3 columns
  EXPECT_EQ(text,
            "errors by tile of 1 row x 3 columns of 1 x 129 ('.' none wrong, '1'-'9' tenths wrong, '#' "
            "all)\n" +
                std::string(42, '.') + "#");
}

}  // namespace

}  // namespace assay
