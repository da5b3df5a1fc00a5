#include "harness/op/params.h"

#include "harness/base/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace assay {
namespace {

using Ints = std::vector<std::int64_t>;

Params example() {
  Params params;
  params.set("shape", Ints{1, 96, 16, 9});
  params.set("upscale_factor", std::int64_t{2});
  params.set("alpha", 0.5);
  params.set("bias", true);
  params.set("out", std::string("i8"));
  params.set("x", QParams{0.007112F, -3});
  return params;
}

TEST(ParamsTest, ValuesArePrintedAsAPersonWouldWriteThem) {
  EXPECT_EQ(to_string(Value{std::int64_t{-2}}), "-2");
  EXPECT_EQ(to_string(Value{0.5}), "0.5");
  EXPECT_EQ(to_string(Value{0.1}), "0.1");
  EXPECT_EQ(to_string(Value{true}), "true");
  EXPECT_EQ(to_string(Value{false}), "false");
  EXPECT_EQ(to_string(Value{std::string("i8")}), "i8");
  EXPECT_EQ(to_string(Value{Ints{1, 96, 16, 9}}), "1x96x16x9");
  EXPECT_EQ(to_string(Value{QParams{0.007112F, 0}}), "0.007112:0");
}

TEST(ParamsTest, NumbersThatDifferArePrintedDifferently) {
  EXPECT_NE(to_string(Value{0.1}), to_string(Value{0.1 + 0x1p-56}));
  EXPECT_NE(to_string(Value{QParams{1.0F, 0}}), to_string(Value{QParams{1.0F + 0x1p-23F, 0}}));
}

TEST(ParamsTest, GettersGiveWhatWasSet) {
  const Params params = example();
  EXPECT_EQ(params.ints("shape"), (Ints{1, 96, 16, 9}));
  EXPECT_EQ(params.integer("upscale_factor"), 2);
  EXPECT_EQ(params.number("alpha"), 0.5);
  EXPECT_TRUE(params.boolean("bias"));
  EXPECT_EQ(params.choice("out"), "i8");
  EXPECT_EQ(params.qparams("x"), (QParams{0.007112F, -3}));
  EXPECT_TRUE(params.has("x"));
  EXPECT_FALSE(params.has("y"));
}

TEST(ParamsTest, SettingAgainReplaces) {
  Params params = example();
  params.set("bias", false);
  EXPECT_FALSE(params.boolean("bias"));
}

TEST(ParamsTest, AnotherNameOrTypeIsAMistake) {
  const Params params = example();
  EXPECT_THROW(params.at("y"), std::logic_error);
  EXPECT_THROW(params.integer("y"), std::logic_error);
  EXPECT_THROW(params.number("upscale_factor"), std::logic_error);
  EXPECT_THROW(params.integer("alpha"), std::logic_error);
  EXPECT_THROW(params.choice("shape"), std::logic_error);
  EXPECT_THROW(params.ints("out"), std::logic_error);
  EXPECT_THROW(params.boolean("x"), std::logic_error);
  EXPECT_THROW(params.qparams("bias"), std::logic_error);
}

TEST(ParamsTest, TheCanonicalTextDoesNotDependOnTheOrderOfSetting) {
  Params forwards, backwards;
  forwards.set("a", std::int64_t{1});
  forwards.set("b", std::int64_t{2});
  backwards.set("b", std::int64_t{2});
  backwards.set("a", std::int64_t{1});
  EXPECT_EQ(forwards.canonical(), "a=1 b=2");
  EXPECT_EQ(backwards.canonical(), forwards.canonical());
  EXPECT_EQ(Params().canonical(), "");
}

/// Returns "parameter path: message" of the error, or "" if the value is accepted.
std::string problem(const ParamSpec& spec, const Value& value) {
  try {
    spec.check(value);
    return "";
  } catch (const ParameterError& error) {
    return error.parameter() + ": " + error.what();
  }
}

Value integer_value(std::int64_t value) {
  return value;
}

TEST(ParamSpecTest, AnIntegerBelowItsLeastIsRefusedWithTheRange) {
  const ParamSpec spec = integer("upscale_factor").at_least(1);
  EXPECT_EQ(problem(spec, integer_value(1)), "");
  EXPECT_EQ(problem(spec, integer_value(0)), "upscale_factor: upscale_factor must be at least 1, got 0");
}

TEST(ParamSpecTest, AnIntegerAboveItsMostIsRefusedWithTheRange) {
  EXPECT_EQ(problem(integer("k").at_most(4), integer_value(5)), "k: k must be at most 4, got 5");
  EXPECT_EQ(problem(integer("k").at_least(1).at_most(4), integer_value(5)),
            "k: k must be between 1 and 4, got 5");
}

TEST(ParamSpecTest, AnIntegerThatDoesNotFitInt32IsRefused) {
  EXPECT_EQ(problem(integer("k"), integer_value(2147483647)), "");
  EXPECT_EQ(problem(integer("k"), integer_value(2147483648)),
            "k: k must be between -2147483648 and 2147483647, got 2147483648");
  EXPECT_EQ(problem(integer("k").at_least(1), integer_value(1LL << 40)),
            "k: k must be between 1 and 2147483647, got 1099511627776");
}

TEST(ParamSpecTest, AWrongTypeIsRefusedWithTheRightOne) {
  EXPECT_EQ(problem(integer("k"), std::string("two")), "k: k must be an integer, got two");
  EXPECT_EQ(problem(number("a"), true), "a: a must be a number, got true");
  EXPECT_EQ(problem(boolean("b"), integer_value(1)), "b: b must be true or false, got 1");
  EXPECT_EQ(problem(shape("shape"), integer_value(3)), "shape: shape must be a list of dims, got 3");
  EXPECT_EQ(problem(ints("axes"), integer_value(3)), "axes: axes must be a list of integers, got 3");
  EXPECT_EQ(problem(choice("out", {"i8"}), integer_value(3)), "out: out must be a name, got 3");
  EXPECT_EQ(problem(qparams("x"), integer_value(3)), "x: x must be a scale and a zero point, got 3");
}

TEST(ParamSpecTest, AShapesRankIsChecked) {
  EXPECT_EQ(problem(shape("shape"), Ints{1, 2, 3, 4}), "");
  EXPECT_EQ(problem(shape("shape"), Ints{1, 2, 3, 4, 5}), "shape: shape has 5 dims; 1 to 4 are possible");
  EXPECT_EQ(problem(shape("shape"), Ints{}), "shape: shape has 0 dims; 1 to 4 are possible");
  EXPECT_EQ(problem(shape("shape", rank(4)), Ints{7}), "shape: shape has 1 dim; it must have 4");
}

TEST(ParamSpecTest, AShapesDimsAreChecked) {
  EXPECT_EQ(problem(shape("shape"), Ints{2, -3}),
            "shape: shape has -3 at position 1; every entry must be between 1 and 2147483647");
  EXPECT_EQ(problem(shape("shape"), Ints{0}),
            "shape: shape has 0 at position 0; every entry must be between 1 and 2147483647");
  EXPECT_NE(problem(shape("shape"), Ints{1LL << 40}), "");
  EXPECT_NE(problem(shape("shape"), Ints{std::numeric_limits<std::int64_t>::max(), 2}), "");
}

TEST(ParamSpecTest, AShapesProductIsChecked) {
  EXPECT_EQ(problem(shape("shape"), Ints{1 << 20, 1 << 20}), "");
  EXPECT_EQ(problem(shape("shape"), Ints{1 << 20, 1 << 20, 2}),
            "shape: shape 1048576x1048576x2 has more than 2^40 elements");
}

TEST(ParamSpecTest, AListsLengthAndEntriesAreChecked) {
  const ParamSpec spec = ints("block_size", rank(1, 2)).at_least(-1);
  EXPECT_EQ(problem(spec, Ints{-1, 4}), "");
  EXPECT_EQ(problem(spec, Ints{-2, 4}),
            "block_size: block_size has -2 at position 0; every entry must be between -1 and 2147483647");
  EXPECT_EQ(problem(spec, Ints{1, 2, 3}), "block_size: block_size has 3 entries; 1 to 2 are possible");
}

TEST(ParamSpecTest, ANumberMustBeFiniteAndInItsRange) {
  ParamSpec spec = number("eps");
  EXPECT_EQ(problem(spec, -1e300), "");
  EXPECT_EQ(problem(spec, std::nan("")), "eps: eps must be finite, got nan");
  EXPECT_EQ(problem(spec, std::numeric_limits<double>::infinity()), "eps: eps must be finite, got inf");
  spec.positive = true;
  spec.max_number = 2;
  EXPECT_EQ(problem(spec, 0.0), "eps: eps must be greater than 0, got 0");
  EXPECT_EQ(problem(spec, 2.5), "eps: eps must be at most 2, got 2.5");
  spec.min_number = 1;
  EXPECT_EQ(problem(spec, 0.5), "eps: eps must be at least 1, got 0.5");
  EXPECT_EQ(problem(spec, 1.0), "");
}

TEST(ParamSpecTest, AChoiceMustBeOneOfTheList) {
  const ParamSpec spec = choice("out", {"i8", "u8"});
  EXPECT_EQ(problem(spec, std::string("u8")), "");
  EXPECT_EQ(problem(spec, std::string("u9")), "out: out must be one of i8, u8, got u9");
}

TEST(ParamSpecTest, AScaleMustBeFiniteAndAboveZeroAsAFloat) {
  const ParamSpec spec = qparams("x");
  EXPECT_EQ(problem(spec, QParams{0.5F, 0}), "");
  const std::string expected = "x.scale: x.scale must be finite and greater than 0 as a 32-bit float, got ";
  EXPECT_EQ(problem(spec, QParams{0.0F, 0}), expected + "0");
  EXPECT_EQ(problem(spec, QParams{-0.5F, 0}), expected + "-0.5");
  EXPECT_EQ(problem(spec, QParams{std::nanf(""), 0}), expected + "nan");
  EXPECT_EQ(problem(spec, QParams{std::numeric_limits<float>::infinity(), 0}), expected + "inf");
  EXPECT_EQ(problem(spec, QParams{static_cast<float>(1e-50), 0}), expected + "0");
}

TEST(ParamSpecTest, AZeroPointMustBeInsideItsRange) {
  EXPECT_EQ(problem(qparams("x"), QParams{1, -128}), "");
  EXPECT_EQ(problem(qparams("x"), QParams{1, 127}), "");
  EXPECT_EQ(problem(qparams("x"), QParams{1, 128}),
            "x.zero_point: x.zero_point must be between -128 and 127, got 128");
  EXPECT_EQ(problem(qparams("x", 0, 15), QParams{1, -1}),
            "x.zero_point: x.zero_point must be between 0 and 15, got -1");
}

TEST(ParamSpecTest, ABuilderKeepsDocumentationAndDefault) {
  const ParamSpec spec = integer("r").at_least(1).by_default(std::int64_t{2}).says("upscale factor");
  EXPECT_EQ(spec.doc, "upscale factor");
  ASSERT_TRUE(spec.fallback.has_value());
  EXPECT_EQ(to_string(*spec.fallback), "2");
}

TEST(ParamSpecTest, ADefaultMayDependOnEarlierParameters) {
  const ParamSpec spec =
      integer("limit").derived([](const Params& earlier) { return Value(2 * earlier.integer("r")); });
  Params earlier;
  earlier.set("r", std::int64_t{21});
  EXPECT_EQ(spec.default_for(earlier), std::optional<Value>(std::int64_t{42}));
  EXPECT_EQ(integer("r").default_for(earlier), std::nullopt);
}

TEST(ParamSpecTest, BooleansAreAccepted) {
  EXPECT_EQ(problem(boolean("b"), true), "");
}

}  // namespace

}  // namespace assay
