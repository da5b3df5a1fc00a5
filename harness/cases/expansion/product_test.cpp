#include "harness/cases/expansion/product.h"

#include <gmock/gmock.h>

#include <set>

namespace assay::cases {
namespace {

using testing::ElementsAre;

Factor factor(const std::string& key, const std::vector<std::string>& segments) {
  Factor made{key, {}};
  for (const std::string& segment : segments) {
    made.choices.push_back(
        {.settings = {{.key = key, .origin = {}, .value = Value(segment)}}, .segments = {segment}});
  }
  return made;
}

std::vector<std::string> points(const Product& product) {
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < product.size(); ++i) {
    std::string& text = texts.emplace_back();
    const PointChoice choice = product.at(i);
    for (const std::string_view segment : choice.segments) text += segment;
    for (const std::string_view key : choice.bad_keys) text.append(" without ").append(key);
  }
  return texts;
}

TEST(Product, TheLastFactorVariesFastest) {
  const Product product(
      {factor("shape", {"a", "b"}), factor("seed", {"1"}), factor("fill", {"x", "y", "z"})});
  EXPECT_THAT(points(product), ElementsAre("a1x", "a1y", "a1z", "b1x", "b1y", "b1z"));
  EXPECT_EQ(product.text(), "shape 2 x fill 3") << "factors with one choice are omitted";
}

TEST(Product, NoFactorsAreOnePoint) {
  const Product product({});
  EXPECT_EQ(product.size(), 1U);
  EXPECT_TRUE(product.at(0).settings.empty());
}

TEST(Product, PointsOfABadChoiceSayWhatTheyLackAndHaveNoNumberOfData) {
  Factor shapes = factor("shape", {"a", "b", "c"});
  shapes.choices[1].bad_keys = {"shape"};
  const Product product({shapes, factor("impl", {"1", "2"})});
  EXPECT_THAT(points(product), ElementsAre("a1", "a2", "b1 without shape", "b2 without shape", "c1", "c2"));
  EXPECT_EQ(product.at(2).data, std::nullopt);
  EXPECT_NE(product.at(4).data, std::nullopt);
}

TEST(Product, PointsThatDifferInFormsOrImplHaveOneNumberOfData) {
  const Product product({factor("forms", {"f", "g"}), factor("shape", {"a", "b"}),
                         factor("impl", {"i", "j", "k"}), factor("seed", {"1", "2"})});
  std::set<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < product.size(); ++i) {
    const PointChoice point = product.at(i);
    const std::uint64_t shape = i / 6 % 2, seed = i % 2;
    EXPECT_EQ(point.data, shape * 2 + seed) << i;
    numbers.insert(point.data.value());
  }
  EXPECT_EQ(numbers.size(), 4U);
}

TEST(Product, WhereNoPointHasTheDataOfAnotherThereIsNoNumber) {
  const Product product({factor("shape", {"a", "b"}), factor("impl", {"i"})});
  EXPECT_EQ(product.at(1).data, std::nullopt);
}

TEST(Product, BeyondSixtyFourBitsItSaturates) {
  std::vector<Factor> factors;
  const std::vector<std::string> choices(1 << 11, "c");
  for (int i = 0; i < 6; ++i) factors.push_back(factor("seed", choices));
  EXPECT_EQ(Product(std::move(factors)).size(), UINT64_MAX);
}

}  // namespace
}  // namespace assay::cases
