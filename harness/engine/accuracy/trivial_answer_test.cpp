#include "harness/engine/accuracy/trivial_answer.h"

#include "harness/tensor/pack.h"
#include "tests/support/small_op.h"

#include <gtest/gtest.h>

#include <limits>

namespace assay {
namespace {

using test::banded;
using test::bounded;
using test::exact;
using test::row;

HostTensor i32(const std::vector<std::int32_t>& values) {
  return row<std::int32_t>(values);
}

TensorSpec output() {
  return {.name = "y", .role = TensorSpec::Role::Output};
}

/// What is found for an output that no input resembles.
std::optional<std::string> found(const Expected& expected, double scale = 1) {
  return trivial_answer(output(), expected, {}, scale);
}

TEST(TrivialAnswer, IsNotFoundWhereEveryElementDiffers) {
  EXPECT_EQ(found(exact(i32({3, 1, 4, 1, 5, 9}))), std::nullopt);
}

TEST(TrivialAnswer, AllZerosPassForAnOutputOfZeros) {
  EXPECT_EQ(found(exact(i32({0, 0, 0}))), "all_zeros");
  EXPECT_EQ(found(exact(i32({0, 0, 1}))), std::nullopt);
}

TEST(TrivialAnswer, AllZerosPassForDenormalsThatMayBeFlushed) {
  EXPECT_EQ(found(exact(row<float>({0x1p-130F, -0x1p-127F}))), "all_zeros");
}

TEST(TrivialAnswer, AConstantPassesForAnOutputOfOneValue) {
  EXPECT_EQ(found(exact(i32({7, 7, 7}))), "constant");
  EXPECT_EQ(found(exact(row<float>({0.5F, 0.5F}))), "constant");
}

TEST(TrivialAnswer, ANanInEveryElementIsAConstant) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(found(exact(row<float>({nan, nan}))), "constant");
  EXPECT_EQ(found(bounded(row<float>({nan, nan}), {1, 1})), "constant");
}

TEST(TrivialAnswer, ConstantInsideEveryBandPasses) {
  // 5 is a value of all three: the first must flip up, the last down.
  EXPECT_EQ(found(banded(i32({4, 5, 6}), {1, 0, -1}, 2)), "constant");
  EXPECT_EQ(found(banded(i32({4, 5, 6}), {1, 0, 1}, 2)), std::nullopt);
}

TEST(TrivialAnswer, AConstantWithMoreFlipsThanAllowedDoesNotPass) {
  const std::size_t count = 100;
  std::vector<std::int32_t> values(count, 4);
  values[0] = 5;
  // Nearly every element would flip where one flip is expected.
  EXPECT_EQ(found(banded(i32(values), std::vector<std::int8_t>(count, 1), 0.01)), std::nullopt);
}

TEST(TrivialAnswer, WideBoundsLetAConstantPass) {
  const HostTensor values = row<float>({1.0F, 2.0F, 4.0F});
  EXPECT_EQ(found(bounded(values, {3.0F, 3.0F, 4.0F})), "all_zeros");
  EXPECT_EQ(found(bounded(values, {1.5F, 1.5F, 1.5F})), "constant");
  EXPECT_EQ(found(bounded(values, {0.5F, 0.5F, 0.5F})), std::nullopt);
}

TEST(TrivialAnswer, ToleranceDecidesHowWideABoundIs) {
  const Expected expected = bounded(row<float>({1.0F, 2.0F, 4.0F}), {0.5F, 0.5F, 0.5F});
  EXPECT_EQ(found(expected, 3), "constant");
  EXPECT_EQ(found(expected, 8), "all_zeros");
}

TEST(TrivialAnswer, InfiniteBoundsLetZerosPass) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(found(bounded(row<float>({1.0F, 2.0F}), {inf, inf})), "all_zeros");
}

TEST(TrivialAnswer, AShiftByOneElementEitherWayIsFound) {
  // Each element's neighbour on the right lies within its bound, which is no constant and no zero.
  EXPECT_EQ(found(bounded(row<float>({10, 11, 12, 11}), {1, 1, 1, 1})), "constant");
  EXPECT_EQ(found(bounded(row<float>({10, 12, 14, 16, 14, 12}), {2, 2, 2, 2, 2, 2})), "shifted");
  EXPECT_EQ(found(bounded(row<float>({10, 12, 14, 16, 14, 12}), {2, 2, 2, 2, 2, 1})), std::nullopt)
      << "either way the last element is 2 away";
  // Bounds that reach the neighbour on one side only.
  EXPECT_EQ(found(bounded(row<float>({10, 11, 13, 16}), {6, 1, 2, 3})), "shifted");
  EXPECT_EQ(found(bounded(row<float>({10, 13, 15, 16}), {3, 2, 1, 6})), "shifted");
}

TEST(TrivialAnswer, TheCopiedInputIsFoundInAnyInputOfThatManyElements) {
  const std::vector<HostTensor> inputs = {i32({1, 2}), i32({3, 1, 4})};
  EXPECT_EQ(trivial_answer(output(), exact(i32({3, 1, 4})), inputs), "copied_input");
  EXPECT_EQ(trivial_answer(output(), exact(i32({3, 1, 5})), inputs), std::nullopt);
}

TEST(TrivialAnswer, TheCopiedInputMayHaveAnotherType) {
  const std::vector<HostTensor> inputs = {row<float>({3, 1, 4})};
  EXPECT_EQ(trivial_answer(output(), exact(i32({3, 1, 4})), inputs), "copied_input");
}

TEST(TrivialAnswer, ADeclaredConstantIsNotReported) {
  TensorSpec spec = output();
  spec.constant_because = "one element a block";
  EXPECT_EQ(trivial_answer(spec, exact(i32({7, 7, 7})), {}), std::nullopt);
  EXPECT_EQ(trivial_answer(spec, exact(i32({0, 0, 0})), {}), std::nullopt);
}

TEST(TrivialAnswer, ADeclaredCopyIsNotReportedButItsConstantsAre) {
  TensorSpec spec = output();
  spec.copy_because = "equal qparams";
  const std::vector<HostTensor> inputs = {i32({3, 1, 4})};
  EXPECT_EQ(trivial_answer(spec, exact(i32({3, 1, 4})), inputs), std::nullopt);
  const std::vector<HostTensor> flat = {i32({3, 3, 3})};
  EXPECT_EQ(trivial_answer(spec, exact(i32({3, 3, 3})), flat), "constant");
}

TEST(TrivialAnswer, OneElementIsNeitherConstantNorShifted) {
  EXPECT_EQ(found(exact(i32({7}))), std::nullopt);
  EXPECT_EQ(found(exact(i32({0}))), "all_zeros");
  const std::vector<HostTensor> inputs = {i32({7})};
  EXPECT_EQ(trivial_answer(output(), exact(i32({7})), inputs), "copied_input");
}

bool memory_passes(const Expected& expected, const Physical& output, const HostTensor& input,
                   const Physical& physical) {
  return accepts_copied_memory(expected, output, pack(input, physical, Poison::A));
}

/// What an output in form `to` holds after the memory of `input` in form `from` was copied into it.
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
  const Expected transposed = exact(copied(input, by_channel, by_width));
  EXPECT_NE(transposed.values.at(1), input.at(1)) << "the memory copy must differ from the logical one";
  EXPECT_TRUE(memory_passes(transposed, by_width, input, by_channel));
  EXPECT_FALSE(memory_passes(exact(input), by_width, input, by_channel));
  EXPECT_TRUE(memory_passes(exact(input), by_channel, input, by_channel));
}

TEST(AcceptsCopiedMemory, IsImpossibleBetweenDifferentSizes) {
  const HostTensor input = row<std::int8_t>({1, 2, 3, 4, 5});
  const Physical small({Storage::Buffer, Layout::WP}, DType::I8, {5});
  const Physical large({Storage::Buffer, Layout::P4C}, DType::I8, {5});
  ASSERT_NE(small.bytes(), large.bytes());
  EXPECT_FALSE(memory_passes(exact(input), large, input, small));
}

}  // namespace
}  // namespace assay
