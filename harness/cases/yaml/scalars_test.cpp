#include "harness/cases/yaml/scalars.h"

#include <gtest/gtest.h>

#include <cmath>

// Tests what counts as an integer, a number or a boolean, as documented in cases/README.md.

namespace assay::cases {
namespace {

Node plain(std::string text) {
  Node node;
  node.kind = Node::Kind::Scalar;
  node.text = std::move(text);
  return node;
}

Node quoted(std::string text) {
  Node node = plain(std::move(text));
  node.quoted = true;
  return node;
}

TEST(Scalars, IntegersAreDecimal) {
  EXPECT_EQ(as_integer(plain("0")), 0);
  EXPECT_EQ(as_integer(plain("-0")), 0);
  EXPECT_EQ(as_integer(plain("+7")), 7);
  EXPECT_EQ(as_integer(plain("-12")), -12);
  EXPECT_EQ(as_integer(plain("9223372036854775807")), INT64_MAX);
  EXPECT_EQ(as_integer(plain("-9223372036854775808")), INT64_MIN);
  for (const char* text : {"", "-", "+", "+-7", "-+7", "0x10", "0o17", "010", "-010", "1_000", "1e3", "1.0",
                           "1 ", "one", "9223372036854775808", "٣"}) {
    EXPECT_EQ(as_integer(plain(text)), std::nullopt) << text;
  }
  EXPECT_EQ(as_integer(quoted("7")), std::nullopt);
}

TEST(Scalars, UnsignedIntegersHave64Bits) {
  EXPECT_EQ(as_unsigned(plain("18446744073709551615")), UINT64_MAX);
  EXPECT_EQ(as_unsigned(plain("18446744073709551616")), std::nullopt);
  EXPECT_EQ(as_unsigned(plain("-1")), std::nullopt);
}

TEST(Scalars, NumbersAreFiniteDecimals) {
  EXPECT_EQ(as_number(plain("1")), 1.0);
  EXPECT_EQ(as_number(plain("-0.5")), -0.5);
  EXPECT_EQ(as_number(plain(".5")), 0.5);
  EXPECT_EQ(as_number(plain("5.")), 5.0);
  EXPECT_EQ(as_number(plain("1e-7")), 1e-7);
  EXPECT_EQ(as_number(plain("+1E+3")), 1000.0);
  for (const char* text : {"", ".", "e3", ".nan", "nan", "NaN", ".inf", "-.inf", "inf", "infinity", "0x1p3",
                           "1,5", "1_0.5", "00.5", "1e400", "1e-400", "1.5f"}) {
    EXPECT_EQ(as_number(plain(text)), std::nullopt) << text;
  }
  EXPECT_EQ(as_number(quoted("1.5")), std::nullopt);
}

TEST(Scalars, FloatsAreRoundedOnceAndMustFit) {
  // Halfway between two floats except for a last digit that a double drops: through a double it would round
  // to even.
  EXPECT_EQ(as_float(plain("1.00000017881393432617187499")), 1.00000011920928955078125f);
  EXPECT_EQ(as_float(plain("1.00000017881393432617187501")), 1.0000002384185791015625f);
  EXPECT_EQ(as_float(plain("1e39")), std::nullopt);
  EXPECT_EQ(as_float(plain("1e-60")), std::nullopt);
}

TEST(Scalars, BooleansAreTrueAndFalseOnly) {
  EXPECT_EQ(as_boolean(plain("true")), true);
  EXPECT_EQ(as_boolean(plain("false")), false);
  for (const char* text : {"True", "TRUE", "yes", "no", "on", "off", "y", "1", "0", ""}) {
    EXPECT_EQ(as_boolean(plain(text)), std::nullopt) << text;
  }
  EXPECT_EQ(as_boolean(quoted("true")), std::nullopt);
}

}  // namespace
}  // namespace assay::cases
