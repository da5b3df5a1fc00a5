#include "harness/engine/diagnosis/diagnose.h"

#include "harness/engine/diagnosis/diagnosis_test_support.h"
#include "tests/support/small_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using test::input;
using test::Wronged;
using ::testing::HasSubstr;

/// The explanation for a tensor in which these elements are wrong.
std::string said(const Shape& shape, const std::function<bool(const std::vector<std::int64_t>&)>& is_wrong,
                 std::optional<Explanation> (*hypothesis)(const WrongOutput&)) {
  const Op op = test::flip_op();
  const Case test_case = test::make_case(op, test::shape_params(shape));
  const HostTensor expected(DType::I8, shape);
  HostTensor got = expected;
  std::vector<std::int64_t> wrong;
  for (std::int64_t i = 0; i < got.numel(); ++i) {
    if (!is_wrong(coordinates(shape, i))) continue;
    set_element(got, i, 1);
    wrong.push_back(i);
  }
  const auto count = static_cast<std::int64_t>(wrong.size());
  const WrongOutput output({.test_case = test_case,
                            .inputs = {},
                            .tensor = 1,
                            .expected = expected,
                            .got = got,
                            .wrong = std::move(wrong),
                            .all_wrong = count});
  const auto found = hypothesis(output);
  return found ? found->text : "silent";
}

using At = const std::vector<std::int64_t>&;

TEST(ExplainTail, OfEachDim) {
  EXPECT_EQ(said(
                {2, 3, 4, 8}, [](At at) { return at[3] == 7; }, explain_tail),
            "only the last column (7 of 8) is wrong; elsewhere 0 of 168 elements are wrong");
  EXPECT_EQ(said(
                {2, 3, 4, 8}, [](At at) { return at[2] == 3; }, explain_tail),
            "only the last row (3 of 4) is wrong; elsewhere 0 of 144 elements are wrong");
  EXPECT_EQ(said(
                {2, 3, 4, 8}, [](At at) { return at[1] == 2; }, explain_tail),
            "only the last channel (2 of 3) is wrong; elsewhere 0 of 128 elements are wrong");
  EXPECT_EQ(said(
                {3, 3, 4, 8}, [](At at) { return at[0] == 2; }, explain_tail),
            "only the last batch (2 of 3) is wrong; elsewhere 0 of 192 elements are wrong");
  EXPECT_EQ(said(
                {5, 16}, [](At at) { return at[1] >= 12; }, explain_tail),
            "only the last 4 of 16, counted by column, are wrong; elsewhere 0 of 60 elements are wrong");
}

TEST(ExplainTail, OfAllButTheFirst) {
  EXPECT_EQ(said(
                {4, 2, 3, 3}, [](At at) { return at[0] > 0; }, explain_tail),
            "all but the first batch of 4 are wrong; elsewhere 0 of 18 elements are wrong");
}

TEST(ExplainTail, OfLanes) {
  EXPECT_EQ(said(
                {2, 2, 3, 12}, [](At at) { return at[3] % 4 == 3; }, explain_tail),
            "only the last lane of every four columns is wrong; elsewhere 0 of 108 elements are wrong");
}

TEST(ExplainTail, OfTheLastElements) {
  EXPECT_EQ(said(
                {4, 16}, [](At at) { return at[0] == 3 && at[1] >= 14; }, explain_tail),
            "only the last 2 elements are wrong; elsewhere 0 of 62 elements are wrong");
  EXPECT_EQ(said(
                {400}, [](At at) { return at[0] == 399; }, explain_tail),
            "only the last column (399 of 400) is wrong; elsewhere 0 of 399 elements are wrong");
}

TEST(ExplainTail, NotWhereTheLastMayBeTheOnlyWrongOnesByChance) {
  EXPECT_EQ(said(
                {6}, [](At at) { return at[0] >= 4; }, explain_tail),
            "silent")
      << "one of 15 pairs";
  EXPECT_EQ(said(
                {40}, [](At at) { return at[0] == 39; }, explain_tail),
            "silent")
      << "one of 40 elements";
  EXPECT_EQ(said(
                {4, 2}, [](At at) { return at[1] == 1; }, explain_tail),
            "silent")
      << "one of 70 choices of four elements";
  EXPECT_NE(said(
                {24, 2}, [](At at) { return at[1] == 1; }, explain_tail),
            "silent")
      << "24 elements could contradict it";
}

TEST(ExplainTail, CountsOnlyElementsThatCouldContradictIt) {
  // Outside of the last three columns all but four elements are clamped, so that no error would show there.
  const Op op = test::flip_op();
  const Case test_case = test::make_case(op, test::shape_params({1, 64}));
  HostTensor expected(DType::I8, {1, 64});
  for (std::int64_t i = 4; i < 61; ++i) set_element(expected, i, 127);
  HostTensor got = expected;
  for (std::int64_t i = 61; i < 64; ++i) set_element(got, i, 1);
  const auto output = [&] {
    return WrongOutput({.test_case = test_case,
                        .inputs = {},
                        .tensor = 1,
                        .expected = expected,
                        .got = got,
                        .wrong = {61, 62, 63},
                        .all_wrong = 3});
  };
  EXPECT_FALSE(explain_tail(output()).has_value());
  for (std::int64_t i = 4; i < 61; ++i) {
    set_element(expected, i, 9);
    set_element(got, i, 9);
  }
  EXPECT_TRUE(explain_tail(output()).has_value());
}

TEST(ExplainTail, NotOfWhatIsScatteredOrAll) {
  EXPECT_EQ(said(
                {8, 16}, [](At at) { return (at[0] + at[1]) % 3 == 0; }, explain_tail),
            "silent");
  EXPECT_EQ(said(
                {8, 16}, [](At) { return true; }, explain_tail),
            "silent");
  EXPECT_EQ(said(
                {8, 16}, [](At at) { return at[1] == 7; }, explain_tail),
            "silent");
  EXPECT_EQ(said(
                {8, 16}, [](At at) { return at[0] == 3 && at[1] == 9; }, explain_tail),
            "silent")
      << "one element";
}

TEST(ExplainEdge, OfImages) {
  const auto at_the_edge = [](At at) { return at[2] == 0 || at[2] == 9 || at[3] == 0 || at[3] == 11; };
  EXPECT_EQ(said({1, 2, 10, 12}, at_the_edge, explain_edge),
            "only the outermost rows and columns of images are wrong; elsewhere 0 of 160 elements are wrong");
  EXPECT_EQ(said(
                {1, 2, 10, 12}, [](At at) { return at[2] == 5; }, explain_edge),
            "silent");
  EXPECT_EQ(said(
                {1, 2, 3, 3}, [](At) { return true; }, explain_edge),
            "silent")
      << "small images are all edge";
}

TEST(DimName, IsTheFieldsWhereThereIsOne) {
  EXPECT_EQ(dim_name({2, 3, 4, 5}, 0), "batch");
  EXPECT_EQ(dim_name({2, 3, 4, 5}, 1), "channel");
  EXPECT_EQ(dim_name({3, 4}, 0), "row");
  EXPECT_EQ(dim_name({3, 4, 5}, 0), "index along dim 0");
}

Wronged diagnosed_integers() {
  return {test::row_quantize_op(), test::row_params(8, 16)};
}

std::optional<Diagnosis> diagnosis_of(const Wronged& wronged) {
  ReferenceProbe probe = wronged.probe();
  return diagnose(wronged.output(), probe);
}

std::string word_of(const Wronged& wronged) {
  const auto found = diagnosis_of(wronged);
  return found ? found->word : "silent";
}

TEST(Diagnose, TellsAZeroPointThatIsOneOffFromRounding) {
  Wronged wronged = diagnosed_integers();
  wronged.answer_of([&](Point& point) {
    HostTensor& zero_point = input(wronged, point, "zero_point");
    for (std::int64_t i = 0; i < zero_point.numel(); ++i) set_element(zero_point, i, zero_point.at(i) + 1);
  });
  EXPECT_EQ(word_of(wronged), "zero_point");
  wronged.answer_by([&](std::int64_t i) { return wronged.expected(i) + (i % 2 == 0 ? 1 : 0); });
  EXPECT_EQ(word_of(wronged), "rounding");
}

TEST(Diagnose, SaysWhatBeforeWhereAndWhereBesideIt) {
  Wronged wronged = diagnosed_integers();
  wronged.answer_by(
      [&](std::int64_t i) { return i >= 112 ? wronged.expected(i - 16) : wronged.expected(i); });
  const auto found = diagnosis_of(wronged);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->word, "index");
  EXPECT_THAT(found->text, HasSubstr("; only the last row (7 of 8) is wrong"));
}

TEST(Diagnose, SaysTailWhereValuesTellNothing) {
  Wronged wronged = diagnosed_integers();
  wronged.answer_by([&](std::int64_t i) { return i % 16 == 15 ? 0 : wronged.expected(i); });
  EXPECT_EQ(word_of(wronged), "tail");
}

TEST(Diagnose, IsSilentUnderNineInTen) {
  Wronged wronged = diagnosed_integers();
  // Four in five elements are shifted, the fifth is arbitrary.
  wronged.answer_by([&](std::int64_t i) {
    return i % 5 == 0 ? static_cast<double>(i * 37 % 200 - 100) : wronged.expected((i + 16) % 128);
  });
  EXPECT_EQ(word_of(wronged), "silent");
}

TEST(Diagnose, IsCheapForHugeTensors) {
  Wronged wronged(test::row_quantize_op(), test::row_params(1024, 1024));
  wronged.answer_by([&](std::int64_t i) { return static_cast<double>(i * 7919 % 255 - 127); });
  const WrongOutput output = wronged.output();
  EXPECT_LE(static_cast<std::int64_t>(output.wrong().size()), WrongOutput::most_looked_at);
  EXPECT_GT(output.all_wrong(), 1'000'000);
  ReferenceProbe probe = wronged.probe();
  EXPECT_FALSE(diagnose(output, probe).has_value());
  EXPECT_FALSE(probe.can_afford(20)) << "what may be spent was spent, and no more";
}

}  // namespace

}  // namespace assay
