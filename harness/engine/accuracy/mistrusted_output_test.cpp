#include "harness/engine/accuracy/mistrusted_output.h"

#include "harness/tensor/pack.h"
#include "tests/support/outputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace assay {
namespace {

using test::banded_output;
using test::bounded_output;
using test::exact_output;
using test::Output;
using test::row;

/// `count` values, the first `at_ends` of them at the ends in turn, the others 5.
template <class Integer>
Output output(std::size_t at_ends, std::size_t count, Integer low, Integer high) {
  std::vector<Integer> values(count, Integer{5});
  for (std::size_t i = 0; i < at_ends; ++i) values[i] = i % 2 == 0 ? low : high;
  return exact_output(row<Integer>(values));
}

std::optional<Saturation> found(const Output& output) {
  return too_saturated(output.spec, output.expected.values);
}

TEST(Saturation, IsToldAbove85Percent) {
  EXPECT_EQ(found(output<std::int8_t>(85, 100, -128, 127)), std::nullopt);
  const auto saturation = found(output<std::int8_t>(86, 100, -128, 127));
  ASSERT_TRUE(saturation);
  EXPECT_EQ(saturation->share, 0.86);
  EXPECT_EQ(saturation->low, -128);
  EXPECT_EQ(saturation->high, 127);
}

TEST(Saturation, OfBytesWithoutASignIsAtZeroAnd255) {
  EXPECT_TRUE(found(output<std::uint8_t>(19, 20, 0, 255)));
  EXPECT_FALSE(found(output<std::uint8_t>(19, 20, 127, 128)));
}

TEST(Saturation, IsOfTheRangeThatTheOpDeclares) {
  Output four_bits = output<std::int8_t>(19, 20, -8, 7);
  EXPECT_FALSE(found(four_bits)) << "in the middle of eight bits";
  four_bits.spec.domain = {.lo = -8, .hi = 7};
  EXPECT_TRUE(found(four_bits));
  Output wide = output<std::int32_t>(19, 20, -32768, 32767);
  EXPECT_FALSE(found(wide)) << "an i32 without a declared range has no ends to reach";
  wide.spec.domain = {.lo = -32768, .hi = 32767};
  EXPECT_TRUE(found(wide));
}

TEST(Saturation, OneEndIsEnough) {
  EXPECT_TRUE(found(output<std::int8_t>(19, 20, 127, 127)));
}

TEST(Saturation, DoesNotCountWhereItMayBeChanceOrFormula) {
  EXPECT_FALSE(found(output<std::int8_t>(15, 15, -128, 127))) << "a few elements";
  Output two_integers = output<std::int8_t>(20, 20, 0, 1);
  two_integers.spec.domain = {.lo = 0, .hi = 1};
  EXPECT_FALSE(found(two_integers)) << "ends are all that there is";
  Output constant = output<std::int8_t>(20, 20, -128, 127);
  constant.spec.constant_because = "every block has one element";
  EXPECT_FALSE(found(constant));
  Output extremes = output<std::int8_t>(20, 20, -128, 127);
  extremes.spec.ends_because = "each row has its extremes alone";
  EXPECT_FALSE(found(extremes));
}

TEST(Saturation, IsOfIntegersOnly) {
  EXPECT_FALSE(found(exact_output(row<float>(std::vector<float>(20, 127)))));
}

HostTensor i32(const std::vector<std::int32_t>& values) {
  return row<std::int32_t>(values);
}

/// The trivial answer found for an output with these inputs.
std::optional<std::string> trivial_answer_found(const Output& output, std::span<const HostTensor> inputs,
                                                const AcceptanceTerms& terms = {}) {
  return trivial_answer(output.spec, output.accepting(terms), inputs);
}

/// The trivial answer found for an output that resembles no input.
std::optional<std::string> trivial_answer_found(const Output& output, const AcceptanceTerms& terms = {}) {
  return trivial_answer_found(output, {}, terms);
}

TEST(TrivialAnswer, IsNotFoundWhereEveryElementDiffers) {
  EXPECT_EQ(trivial_answer_found(exact_output(i32({3, 1, 4, 1, 5, 9}))), std::nullopt);
}

TEST(TrivialAnswer, AllZerosPassForAnOutputOfZeros) {
  EXPECT_EQ(trivial_answer_found(exact_output(i32({0, 0, 0}))), "all_zeros");
  EXPECT_EQ(trivial_answer_found(exact_output(i32({0, 0, 1}))), std::nullopt);
}

TEST(TrivialAnswer, AllZerosPassForDenormalsThatMayBeFlushed) {
  EXPECT_EQ(trivial_answer_found(exact_output(row<float>({0x1p-130F, -0x1p-127F}))), "all_zeros");
}

TEST(TrivialAnswer, AConstantPassesForAnOutputOfOneValue) {
  EXPECT_EQ(trivial_answer_found(exact_output(i32({7, 7, 7}))), "constant");
  EXPECT_EQ(trivial_answer_found(exact_output(row<float>({0.5F, 0.5F}))), "constant");
}

TEST(TrivialAnswer, ANanInEveryElementIsAConstant) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(trivial_answer_found(exact_output(row<float>({nan, nan}))), "constant");
  EXPECT_EQ(trivial_answer_found(bounded_output(row<float>({nan, nan}), {1, 1})), "constant");
}

TEST(TrivialAnswer, ConstantInsideEveryBandPasses) {
  // 5 is a value of all three: the first must flip up, the last down.
  const AcceptanceTerms terms{.unit_error = 0.4};
  const std::vector<float> once = {1, 1, 1};
  EXPECT_EQ(trivial_answer_found(banded_output(i32({4, 5, 6}), {4.4, 5, 5.6}, once), terms), "constant");
  EXPECT_EQ(trivial_answer_found(banded_output(i32({4, 5, 6}), {4.4, 5, 6.4}, once), terms), std::nullopt);
}

TEST(TrivialAnswer, AConstantWithMoreFlipsThanAllowedDoesNotPass) {
  const std::size_t count = 100;
  std::vector<std::int32_t> values(count, 4);
  values[0] = 5;
  std::vector<double> unrounded(count, 4.49999);
  unrounded[0] = 5;
  // Nearly every element would flip, but one flip in a hundred is expected.
  EXPECT_EQ(trivial_answer_found(banded_output(i32(values), unrounded, std::vector<float>(count, 1)),
                                 {.unit_error = 5e-5}),
            std::nullopt);
}

TEST(TrivialAnswer, WideBoundsLetAConstantPass) {
  const HostTensor values = row<float>({1.0F, 2.0F, 4.0F});
  EXPECT_EQ(trivial_answer_found(bounded_output(values, {3.0F, 3.0F, 4.0F})), "all_zeros");
  EXPECT_EQ(trivial_answer_found(bounded_output(values, {1.5F, 1.5F, 1.5F})), "constant");
  EXPECT_EQ(trivial_answer_found(bounded_output(values, {0.5F, 0.5F, 0.5F})), std::nullopt);
}

TEST(TrivialAnswer, ToleranceDecidesHowWideABoundIs) {
  const Output output = bounded_output(row<float>({1.0F, 2.0F, 4.0F}), {0.5F, 0.5F, 0.5F});
  EXPECT_EQ(trivial_answer_found(output, {.tolerance = {.scale = 3}}), "constant");
  EXPECT_EQ(trivial_answer_found(output, {.tolerance = {.scale = 8}}), "all_zeros");
}

TEST(TrivialAnswer, InfiniteBoundsLetNanPass) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(trivial_answer_found(bounded_output(row<float>({1.0F, 2.0F}), {inf, inf})), "constant");
  EXPECT_EQ(trivial_answer_found(bounded_output(row<float>({1.0F, 2.0F}), {inf, 0.25F})), std::nullopt);
}

TEST(TrivialAnswer, AShiftByOneElementEitherWayIsFound) {
  // Each element's right neighbour is within its bound; the answer is neither constant nor zero.
  EXPECT_EQ(trivial_answer_found(bounded_output(row<float>({10, 11, 12, 11}), {1, 1, 1, 1})), "constant");
  EXPECT_EQ(trivial_answer_found(bounded_output(row<float>({10, 12, 14, 16, 14, 12}), {2, 2, 2, 2, 2, 2})),
            "shifted");
  EXPECT_EQ(trivial_answer_found(bounded_output(row<float>({10, 12, 14, 16, 14, 12}), {2, 2, 2, 2, 2, 1})),
            std::nullopt)
      << "either way the last element is 2 away";
  // The bounds reach the neighbour on one side only.
  EXPECT_EQ(trivial_answer_found(bounded_output(row<float>({10, 11, 13, 16}), {6, 1, 2, 3})), "shifted");
  EXPECT_EQ(trivial_answer_found(bounded_output(row<float>({10, 13, 15, 16}), {3, 2, 1, 6})), "shifted");
}

TEST(TrivialAnswer, TheCopiedInputIsFoundInAnyInputOfThatManyElements) {
  const std::vector<HostTensor> inputs = {i32({1, 2}), i32({3, 1, 4})};
  EXPECT_EQ(trivial_answer_found(exact_output(i32({3, 1, 4})), inputs), "copied_input");
  EXPECT_EQ(trivial_answer_found(exact_output(i32({3, 1, 5})), inputs), std::nullopt);
}

TEST(TrivialAnswer, TheCopiedInputMayHaveAnotherType) {
  const std::vector<HostTensor> inputs = {row<float>({3, 1, 4})};
  EXPECT_EQ(trivial_answer_found(exact_output(i32({3, 1, 4})), inputs), "copied_input");
}

TEST(TrivialAnswer, ADeclaredConstantIsNotReported) {
  for (const std::int32_t value : {7, 0}) {
    Output output = exact_output(i32({value, value, value}));
    output.spec.constant_because = "one element a block";
    EXPECT_EQ(trivial_answer_found(output), std::nullopt);
  }
}

TEST(TrivialAnswer, ADeclaredCopyIsNotReportedButItsConstantsAre) {
  Output output = exact_output(i32({3, 1, 4}));
  output.spec.copy_because = "equal qparams";
  EXPECT_EQ(trivial_answer_found(output, std::vector{output.expected.values}), std::nullopt);
  output.expected.values = i32({3, 3, 3});
  EXPECT_EQ(trivial_answer_found(output, std::vector{output.expected.values}), "constant");
}

TEST(TrivialAnswer, WhatAToleranceAcceptsMayBeTrivial) {
  const Output output = exact_output(i32({3, 4, 5}));
  const HostTensor file = output.expected.values;
  EXPECT_EQ(trivial_answer_found(output, {.tolerance = {.off_by = 1}, .file = &file}), "constant");
  EXPECT_EQ(trivial_answer_found(output, {.tolerance = {.off_by = 1, .share = 0.4}, .file = &file}),
            std::nullopt);
}

TEST(TrivialAnswer, OneElementIsNeitherConstantNorShifted) {
  EXPECT_EQ(trivial_answer_found(exact_output(i32({7}))), std::nullopt);
  EXPECT_EQ(trivial_answer_found(exact_output(i32({0}))), "all_zeros");
  const std::vector<HostTensor> inputs = {i32({7})};
  EXPECT_EQ(trivial_answer_found(exact_output(i32({7})), inputs), "copied_input");
}

bool memory_passes(const Output& expected, const Physical& output, const HostTensor& input,
                   const Physical& physical) {
  return accepts_copied_memory(expected.accepting(), output, pack(input, physical, Poison::A));
}

/// The output in form `to` after the memory of `input` in form `from` was copied into it.
HostTensor copied(const HostTensor& input, const Physical& from, const Physical& to) {
  return unpack(pack(input, from, Poison::A), to);
}

TEST(AcceptsCopiedMemory, SeesThroughDifferentForms) {
  const Shape shape = {1, 4, 1, 4};
  std::vector<std::int8_t> values;
  for (int i = 0; i < 16; ++i) values.push_back(static_cast<std::int8_t>(i * i - 50));
  const HostTensor input = test::tensor<std::int8_t>(shape, values);
  const Physical by_channel({Storage::Buffer, Layout::P4C}, DType::I8, shape);
  const Physical by_width({Storage::Buffer, Layout::P4W}, DType::I8, shape);
  const Output transposed = exact_output(copied(input, by_channel, by_width));
  EXPECT_NE(transposed.expected.values.at(1), input.at(1))
      << "the memory copy must differ from the logical one";
  EXPECT_TRUE(memory_passes(transposed, by_width, input, by_channel));
  EXPECT_FALSE(memory_passes(exact_output(input), by_width, input, by_channel));
  EXPECT_TRUE(memory_passes(exact_output(input), by_channel, input, by_channel));
}

TEST(AcceptsCopiedMemory, IsImpossibleBetweenDifferentSizes) {
  const HostTensor input = row<std::int8_t>({1, 2, 3, 4, 5});
  const Physical small({Storage::Buffer, Layout::WP}, DType::I8, {5});
  const Physical large({Storage::Buffer, Layout::P4C}, DType::I8, {5});
  ASSERT_NE(small.bytes(), large.bytes());
  EXPECT_FALSE(memory_passes(exact_output(input), large, input, small));
}

}  // namespace

}  // namespace assay
