#include "harness/engine/diagnosis/displacement.h"

#include "harness/engine/diagnosis/diagnosis_test_support.h"

#include <gtest/gtest.h>

#include <array>

namespace assay {
namespace {

using test::Wronged;

Wronged reals() {
  return {test::product_op(), test::product_params(8, 8, 16)};
}

ErrorKind kind_said(const Wronged& wronged) {
  const auto found = explain_displacement(wronged.output());
  return found ? found->kind : ErrorKind::Nan;
}

TEST(ExplainDisplacement, TellsIndexPackingAndLayoutApart) {
  Wronged wronged = reals();
  wronged.answer_by([&](std::int64_t i) { return wronged.expected(i ^ 16); });
  EXPECT_EQ(kind_said(wronged), ErrorKind::Index) << "rows are exchanged";
  wronged.answer_by([&](std::int64_t i) { return wronged.expected(i ^ 1); });
  EXPECT_EQ(kind_said(wronged), ErrorKind::Packing) << "neighbours in a quad are exchanged";
  wronged.answer_by([&](std::int64_t i) { return wronged.expected(i % 8 * 16 + i / 8); });
  EXPECT_EQ(kind_said(wronged), ErrorKind::Layout) << "y is transposed";
}

TEST(ExplainDisplacement, SaysNothingOfOtherValuesOrFewOfThem) {
  Wronged wronged = reals();
  wronged.answer_by([&](std::int64_t i) { return wronged.expected(i) + 0.5; });
  EXPECT_EQ(kind_said(wronged), ErrorKind::Nan);
  wronged.answer_by([&](std::int64_t i) { return i == 5 ? wronged.expected(6) : wronged.expected(i); });
  EXPECT_EQ(kind_said(wronged), ErrorKind::Nan) << "one element that equals its neighbour proves nothing";
  wronged.answer_by([&](std::int64_t) { return 0; });
  EXPECT_EQ(kind_said(wronged), ErrorKind::Nan);
}

TEST(ExplainLanes, OfAnyOrder) {
  Wronged wronged = reals();
  constexpr std::array<std::int64_t, 4> order{2, 0, 3, 1};
  wronged.answer_by(
      [&](std::int64_t i) { return wronged.expected(i / 4 * 4 + order[static_cast<std::size_t>(i % 4)]); });
  const auto found = explain_lanes(wronged.output());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->kind, ErrorKind::Packing);
  EXPECT_EQ(found->text, "lanes 0 to 3 of every four columns hold lanes 2, 0, 3, 1");
}

}  // namespace
}  // namespace assay
