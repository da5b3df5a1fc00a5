#include "harness/op/expected_check.h"

#include "tests/support/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace assay {
namespace {

using test::row;
using testing::AllOf;
using testing::HasSubstr;

TensorSpec output(OutputClass output_class, DType dtype) {
  return {.name = "y",
          .role = TensorSpec::Role::Output,
          .dtype = dtype,
          .shape = {2},
          .output_class = output_class};
}

std::string complaint(OutputClass output_class, const Expected& expected, DType dtype) try {
  check_expected("matmul", output(output_class, dtype), expected);
  return "";
} catch (const std::logic_error& error) {
  return error.what();
}

std::string exact_complaint(const Expected& expected, DType dtype = DType::F32) {
  return complaint(OutputClass::Exact, expected, dtype);
}
std::string banded_complaint(const Expected& expected, DType dtype = DType::I8) {
  return complaint(OutputClass::Banded, expected, dtype);
}
std::string bounded_complaint(const Expected& expected, DType dtype = DType::F32) {
  return complaint(OutputClass::Bounded, expected, dtype);
}

const HostTensor floats = row<float>({1, 2});
const HostTensor bytes = row<std::int8_t>({1, 2});

TEST(CheckExpected, NamesOpOutputAndClass) {
  EXPECT_THAT(exact_complaint({.values = bytes}),
              AllOf(HasSubstr("matmul, output 'y' (exact)"), HasSubstr("i8 [2]"), HasSubstr("f32 [2]")));
}

TEST(CheckExpected, AnExactOutputHasValuesAlone) {
  EXPECT_EQ(exact_complaint({.values = floats}), "");
  EXPECT_THAT(exact_complaint({.values = floats, .bound = {1, 1}}), HasSubstr("it has bound"));
  EXPECT_THAT(exact_complaint({.values = floats, .magnitude = {1, 1}}), HasSubstr("it has magnitude"));
  EXPECT_THAT(exact_complaint({.values = floats, .unrounded = {1, 1}}), HasSubstr("it has unrounded"));
}

TEST(CheckExpected, ABoundedOutputNeedsBoundOrMagnitude) {
  EXPECT_EQ(bounded_complaint({.values = floats, .bound = {1, 1}}), "");
  EXPECT_EQ(bounded_complaint({.values = floats, .magnitude = {1, 1}}), "");
  EXPECT_EQ(bounded_complaint({.values = floats, .bound = {1, 1}, .magnitude = {1, 1}}), "");
  EXPECT_THAT(bounded_complaint({.values = floats}), HasSubstr("it has no bound or magnitude"));
  EXPECT_THAT(bounded_complaint({.values = floats, .bound = {1, 1}, .unrounded = {1, 2}}),
              HasSubstr("it has unrounded"));
}

TEST(CheckExpected, ABoundedOutputMayBeGivenAsDouble) {
  EXPECT_EQ(bounded_complaint({.values = row<double>({1, 2}), .bound = {1, 1}}), "");
  EXPECT_THAT(exact_complaint({.values = row<double>({1, 2})}), HasSubstr("f64 [2]"));
}

TEST(CheckExpected, ABandedOutputNeedsWhatItsBandIsMadeOf) {
  EXPECT_EQ(banded_complaint({.values = bytes, .magnitude = {1, 1}, .unrounded = {1, 2}}), "");
  EXPECT_THAT(banded_complaint({.values = bytes, .magnitude = {1, 1}}), HasSubstr("it has no unrounded"));
  EXPECT_THAT(banded_complaint({.values = bytes, .unrounded = {1, 2}}), HasSubstr("it has no magnitude"));
  EXPECT_THAT(banded_complaint({.values = floats, .magnitude = {1, 1}, .unrounded = {1, 2}}, DType::F32),
              HasSubstr("only integers"));
}

TEST(CheckExpected, EveryElementHasAnEntry) {
  EXPECT_THAT(bounded_complaint({.values = floats, .bound = {1}}),
              HasSubstr("bound has 1 entries for 2 elements"));
  EXPECT_THAT(banded_complaint({.values = bytes, .magnitude = {1, 1}, .unrounded = {1, 2, 3}}),
              HasSubstr("unrounded has 3 entries"));
  EXPECT_THAT(exact_complaint({.values = row<float>({1, 2, 3})}), HasSubstr("f32 [3]"));
}

TEST(CheckExpected, ABoundIsANumberThatIsNotNegative) {
  EXPECT_THAT(bounded_complaint({.values = floats, .bound = {1, -1}}), HasSubstr("bound has the entry -1"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(bounded_complaint({.values = floats, .magnitude = {nan, 1}}), HasSubstr("magnitude"));
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(bounded_complaint({.values = floats, .bound = {inf, 1}}), "");
}

}  // namespace
}  // namespace assay
