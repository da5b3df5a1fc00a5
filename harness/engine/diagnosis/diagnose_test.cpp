#include "harness/engine/diagnosis/diagnose.h"

#include "harness/engine/diagnosis/diagnosis_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using test::input;
using test::Wronged;
using ::testing::HasSubstr;

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
