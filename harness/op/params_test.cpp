#include "harness/op/params.h"

#include <gtest/gtest.h>

#include <stdexcept>

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

}  // namespace
}  // namespace assay
