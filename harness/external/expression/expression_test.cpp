#include "harness/external/expression/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace assay::external {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::map<std::string, Variable, std::less<>> variables{
    {"n", std::int64_t{7}},
    {"big", std::numeric_limits<std::int64_t>::max()},
    {"eps", 0.25},
    {"dtype", std::string("f16")},
    {"shape", std::vector<std::int64_t>{2, 3, 5}},
    {"device.subgroup_size", std::int64_t{32}},
};

std::optional<Variable> find(std::string_view name) {
  const auto found = variables.find(name);
  return found == variables.end() ? std::nullopt : std::optional(found->second);
}

std::int64_t value(const std::string& text) {
  return Expression::parse(text).evaluate(find);
}

/// "position: message"
std::string error(const std::string& text) {
  try {
    return "value " + std::to_string(value(text));
  } catch (const ExpressionError& thrown) {
    return std::to_string(thrown.position()) + ": " + thrown.what();
  }
}

TEST(Expression, ComputesWithTheUsualPrecedence) {
  EXPECT_EQ(value("1 + 2 * 3 - 4"), 3);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("10 - 3 - 2"), 5);
  EXPECT_EQ(value("100 / 7 / 2"), 7);
  EXPECT_EQ(value("-7 / 2"), -3);
  EXPECT_EQ(value("-7 % 2"), -1);
  EXPECT_EQ(value("- - n"), 7);
  EXPECT_EQ(value("n*shape[1]+shape[ 2 ]"), 26);
  EXPECT_EQ(value("shape[shape[0] - 1]"), 3);
  EXPECT_EQ(value("device.subgroup_size / 2"), 16);
}

TEST(Expression, ComparesAndDecides) {
  EXPECT_EQ(value("1 < 2 and 2 <= 2 && not 3 > 4"), 1);
  EXPECT_EQ(value("1 == 2 or n != 7 || !1"), 0);
  EXPECT_EQ(value("not n == 7"), 0);
  EXPECT_EQ(value("n >= 8 or 1 / (n - 6) == 1"), 1);
  EXPECT_EQ(value("n == 7 or 1 / 0"), 1) << "what does not matter is not computed";
}

TEST(Expression, ComparesChoicesWithWords) {
  EXPECT_EQ(value("dtype == f16"), 1);
  EXPECT_EQ(value("f32 == dtype"), 0);
  EXPECT_EQ(value("dtype != 'f16'"), 0);
  EXPECT_EQ(value("dtype == \"f16\" and n == 7"), 1);
  EXPECT_EQ(error("n == f16"), "5: 'f16' is unknown here");
  EXPECT_EQ(error("dtype == 3"), "6: 'dtype' is a word, and the other side is none");
  EXPECT_EQ(error("'a'"), "0: a quoted text can only be compared with a choice");
}

TEST(Expression, Functions) {
  EXPECT_EQ(value("min(3, n, 2) + max(1, 9)"), 11);
  EXPECT_EQ(value("ceil_div(65, 64)"), 2);
  EXPECT_EQ(value("ceil_div(-1, 64)"), 0);
  EXPECT_EQ(value("align(65, 64)"), 128);
  EXPECT_EQ(value("product(shape) + rank(shape)"), 33);
  EXPECT_EQ(error("ceil_div(1, 0)"), "0: the second value of ceil_div must be positive, and is 0");
  EXPECT_EQ(error("ceil_div(1)"), "0: ceil_div takes two values");
  EXPECT_EQ(error("1 + sum(2)"),
            "4: there is no function 'sum': known are min, max, ceil_div, align, product, rank");
  EXPECT_EQ(error("min()"), "0: min takes one value or more");
  EXPECT_EQ(error("product(n)"), "8: a shape or list is wanted here, and this is an integer");
}

TEST(Expression, ANumberAloneIsOne) {
  EXPECT_EQ(std::get<double>(Expression::parse("eps").evaluate_number(find)), 0.25);
  EXPECT_EQ(std::get<std::int64_t>(Expression::parse("n + 1").evaluate_number(find)), 8);
  EXPECT_EQ(error("eps + 1"), "0: an integer is wanted here, and this is a number: eps");
  EXPECT_EQ(error("eps"), "0: an integer is wanted, and 'eps' is a number");
  EXPECT_EQ(error("shape"), "0: an integer is wanted, and 'shape' is a list");
}

TEST(Expression, SaysWhereItIsWrong) {
  EXPECT_EQ(error("1 +"), "3: the expression ends where a value is missing");
  EXPECT_EQ(error(""), "0: the expression ends where a value is missing");
  EXPECT_EQ(error("1 + * 2"), "4: a value was expected, not '*'");
  EXPECT_EQ(error("(1 + 2"), "6: ')' is missing after an expression in parentheses");
  EXPECT_EQ(error("shape[1"), "7: ']' is missing after an index");
  EXPECT_EQ(error("1 2"), "2: '2' was not expected here");
  EXPECT_EQ(error("1.5"), "1: only whole decimal numbers can be written here");
  EXPECT_EQ(error("0x10"), "1: only whole decimal numbers can be written here");
  EXPECT_EQ(error("'abc"), "1: the quoted text has no end");
  EXPECT_EQ(error("m + 1"), "0: 'm' is unknown here");
  EXPECT_EQ(error("shape[3]"), "5: index 3 is out of range: the list has 3 entries, from 0 on");
  EXPECT_EQ(error("shape[-1]"), "5: index -1 is out of range: the list has 3 entries, from 0 on");
  EXPECT_EQ(error("n / (n - 7)"), "2: 7 is divided by zero");
  EXPECT_EQ(error("n % 0"), "2: 7 is divided by zero");
}

TEST(Expression, NamesOverflow) {
  EXPECT_EQ(error("big + 1"), "4: 9223372036854775807 + 1 does not fit 64 bits");
  EXPECT_EQ(error("big * 2"), "4: 9223372036854775807 * 2 does not fit 64 bits");
  EXPECT_EQ(error("-big - 2"), "5: -9223372036854775807 - 2 does not fit 64 bits");
  EXPECT_EQ(error("(-big - 1) / -1"), "11: -9223372036854775808 / -1 does not fit 64 bits");
  EXPECT_EQ(value("(-big - 1) % -1"), 0);
  EXPECT_EQ(error("-(-big - 1)"), "0: 0 - -9223372036854775808 does not fit 64 bits");
  EXPECT_EQ(error("9223372036854775808"), "0: the integer does not fit 64 bits");
  EXPECT_EQ(error("align(big, 2)"), "0: 4611686018427387904 * 2 does not fit 64 bits");
}

TEST(Expression, BombsAreErrors) {
  const std::string nested = std::string(2000, '(') + "1" + std::string(2000, ')');
  EXPECT_THAT(error(nested), HasSubstr("an expression is nested at most 64 deep"));
  EXPECT_THAT(error(std::string(2000, '-') + "1"), HasSubstr("at most 64 deep"));
  EXPECT_THAT(error(std::string(2000, '!') + "1"), HasSubstr("at most 64 deep"));
  EXPECT_THAT(error(std::string(5000, ' ') + "1"), HasSubstr("an expression has at most 4096 bytes"));
  std::string sum = "1";
  for (int i = 0; i < 2000; ++i) sum += "+1";
  EXPECT_EQ(value(sum), 2001) << "length is no depth";
}

TEST(Expression, TellsTheNamesItUses) {
  std::vector<std::string> told;
  for (const UsedName& name : Expression::parse("dtype == f16 and n + shape[m] > min(k, 2)").names())
    told.push_back(name.text + "@" + std::to_string(name.position) + ":" + name.compared_with);
  EXPECT_THAT(told, ElementsAre("dtype@0:f16", "f16@9:dtype", "n@17:", "shape@21:", "m@27:", "k@36:"));
}

}  // namespace
}  // namespace assay::external
