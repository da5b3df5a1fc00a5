#include "harness/engine/accuracy/saturation.h"

#include "tests/support/outputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace assay {
namespace {

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

}  // namespace
}  // namespace assay
