#include "harness/engine/diagnosis/value_hypotheses.h"

#include "harness/engine/diagnosis/diagnosis_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

using test::Wronged;
using ::testing::HasSubstr;

Wronged quantized_rows() {
  return {test::row_quantize_op(), test::row_params(6, 16)};
}

Wronged explained_reals() {
  return {test::product_op(), test::product_params(6, 8, 16)};
}

TEST(ExplainUnwritten, WhereNothingIsStored) {
  Wronged wronged = quantized_rows();
  wronged.answer_by([](std::int64_t) { return 77; });
  const auto found = explain_unwritten(wronged.output([](std::int64_t) { return true; }));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->kind, ErrorKind::Unwritten);
  EXPECT_EQ(found->share, 1);
  EXPECT_FALSE(explain_unwritten(wronged.output()).has_value());
}

TEST(ExplainOverwritten, WhereRowsAreStoredOverEachOther) {
  Wronged wronged = quantized_rows();
  // All rows were stored in row 0, where the last one stayed; the other rows were never written.
  wronged.answer_by([&](std::int64_t i) { return i < 16 ? wronged.expected(80 + i) : 99; });
  const auto is_unwritten = [](std::int64_t i) { return i >= 16; };
  const auto found = explain_overwritten(wronged.output(is_unwritten));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->kind, ErrorKind::Unwritten);
  EXPECT_FALSE(explain_overwritten(wronged.output()).has_value()) << "everything was written";
}

TEST(ExplainNan, WhereANumberIsExpected) {
  Wronged wronged = explained_reals();
  wronged.answer_by([&](std::int64_t i) { return i % 3 == 0 ? NAN : wronged.expected(i); });
  EXPECT_TRUE(explain_nan(wronged.output()).has_value());
  wronged.answer_by([&](std::int64_t i) { return i % 3 == 0 ? NAN : wronged.expected(i) + 1; });
  EXPECT_FALSE(explain_nan(wronged.output()).has_value()) << "a third of the wrong ones";
}

TEST(ExplainSign, OfNegatedValues) {
  Wronged wronged = explained_reals();
  wronged.answer_by([&](std::int64_t i) { return -wronged.expected(i); });
  EXPECT_TRUE(explain_sign(wronged.output()).has_value());
  wronged.answer_by([&](std::int64_t i) { return std::fabs(wronged.expected(i)) + 1; });
  EXPECT_FALSE(explain_sign(wronged.output()).has_value());
}

TEST(ExplainSign, OfZerosThatAreNegative) {
  Wronged wronged = explained_reals();
  wronged.answer_of([](Point& point) {
    for (HostTensor& tensor : point.inputs) tensor = HostTensor(tensor.dtype(), tensor.shape());
  });
  EXPECT_FALSE(explain_sign(wronged.output()).has_value()) << "zeros where other numbers are expected";
}

TEST(ExplainClamp, OfAnEndThatIsNotReached) {
  Wronged wronged = quantized_rows();
  wronged.answer_by([&](std::int64_t i) { return std::min(wronged.expected(i), 20.0); });
  const auto found = explain_clamp(wronged.output());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->kind, ErrorKind::Clamp);
  EXPECT_THAT(found->text, HasSubstr("stops at 20"));
}

TEST(ExplainClamp, OfAnEndThatIsPassed) {
  Wronged wronged = explained_reals();
  const auto relu = [&](std::int64_t i) { return std::max(wronged.expected(i), 0.0); };
  wronged.answer_by(relu);
  // The output of relu is expected, its input was computed.
  const HostTensor rectified = [&] {
    HostTensor tensor = wronged.expected();
    for (std::int64_t i = 0; i < tensor.numel(); ++i) set_element(tensor, i, relu(i));
    return tensor;
  }();
  std::vector<std::int64_t> wrong;
  for (std::int64_t i = 0; i < rectified.numel(); ++i) {
    if (rectified.at(i) != wronged.expected(i)) wrong.push_back(i);
  }
  const WrongOutput output({.test_case = wronged.test_case(),
                            .inputs = wronged.inputs(),
                            .tensor = 3,
                            .expected = rectified,
                            .got = wronged.expected(),
                            .wrong = wrong,
                            .all_wrong = static_cast<std::int64_t>(wrong.size())});
  const auto found = explain_clamp(output);
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(found->text, HasSubstr("the lower end of the range, 0"));
}

TEST(ExplainClamp, NotWhereEveryElementIsAtTheEnd) {
  Wronged wronged = quantized_rows();
  const auto output_is_clamped = [&](double others) {
    HostTensor expected = wronged.expected(), got = expected;
    std::vector<std::int64_t> wrong;
    for (std::int64_t i = 0; i < expected.numel(); ++i) {
      const bool is_other = i % 2 == 1;
      set_element(expected, i, is_other ? others : 127);
      set_element(got, i, is_other ? others : static_cast<double>(i % 90));
      if (!is_other) wrong.push_back(i);
    }
    const auto count = static_cast<std::int64_t>(wrong.size());
    return explain_clamp(WrongOutput({.test_case = wronged.test_case(),
                                      .inputs = wronged.inputs(),
                                      .tensor = 3,
                                      .expected = expected,
                                      .got = got,
                                      .wrong = wrong,
                                      .all_wrong = count}))
        .has_value();
  };
  EXPECT_TRUE(output_is_clamped(5)) << "elements expected elsewhere could contradict it";
  EXPECT_FALSE(output_is_clamped(127)) << "there is no element that could";
}

TEST(ExplainClamp, NotOfARowOfZeros) {
  Wronged wronged = quantized_rows();
  wronged.answer_by([&](std::int64_t i) { return i >= 80 ? 0 : wronged.expected(i); });
  EXPECT_FALSE(explain_clamp(wronged.output()).has_value());
}

TEST(ExplainDifference, OfAllElements) {
  Wronged wronged = quantized_rows();
  wronged.answer_by([&](std::int64_t i) { return wronged.expected(i) + 3; });
  const auto found = explain_difference(wronged.output());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->kind, ErrorKind::ZeroPoint);
  EXPECT_THAT(found->text, HasSubstr("+ 3"));
}

TEST(ExplainDifference, NotWhereOthersAreRight) {
  Wronged wronged = quantized_rows();
  wronged.answer_by([&](std::int64_t i) { return wronged.expected(i) + (i % 2 == 0 ? 1 : 0); });
  EXPECT_FALSE(explain_difference(wronged.output()).has_value());
}

TEST(ExplainRatio, OfReals) {
  Wronged wronged = explained_reals();
  wronged.answer_by([&](std::int64_t i) { return wronged.expected(i) * 1.5; });
  const auto found = explain_ratio(wronged.output());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->kind, ErrorKind::Scale);
  EXPECT_THAT(found->text, HasSubstr("times 1.5"));
}

std::string rounding_text(const Wronged& wronged, const std::function<double(std::int64_t)>& zero_of = {}) {
  const auto found = explain_rounding(wronged.output(), zero_of);
  return found ? found->text : "silent";
}

TEST(ExplainRounding, TellsTheDirection) {
  Wronged wronged = quantized_rows();
  const auto off_by = [&](double error) {
    wronged.answer_by([&](std::int64_t i) { return wronged.expected(i) + (i % 3 == 0 ? error : 0); });
  };
  off_by(1);
  EXPECT_THAT(rounding_text(wronged), HasSubstr("rounded up"));
  off_by(-1);
  EXPECT_THAT(rounding_text(wronged), HasSubstr("rounded down"));
  off_by(2);
  EXPECT_EQ(rounding_text(wronged), "silent");
}

TEST(ExplainRounding, KnowsTruncationByWhereZeroIs) {
  Wronged wronged = quantized_rows();
  const auto zero_of = [&](std::int64_t i) { return wronged.inputs()[2].at(i / 16); };
  const auto from_zero = [&](std::int64_t i) { return wronged.expected(i) - zero_of(i); };
  wronged.answer_by([&](std::int64_t i) {
    const double towards = from_zero(i) > 0 ? -1 : from_zero(i) < 0 ? 1 : 0;
    return wronged.expected(i) + (i % 2 == 0 ? towards : 0);
  });
  EXPECT_THAT(rounding_text(wronged, zero_of), HasSubstr("truncated"));
  EXPECT_THAT(rounding_text(wronged), HasSubstr("up or down"));
}

TEST(ExplainRounding, NotWhereAllAreOffByOne) {
  Wronged wronged = quantized_rows();
  wronged.answer_by([&](std::int64_t i) { return wronged.expected(i) + 1; });
  EXPECT_EQ(rounding_text(wronged), "silent");
}

}  // namespace
}  // namespace assay
