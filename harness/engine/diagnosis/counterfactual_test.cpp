#include "harness/engine/diagnosis/counterfactual.h"

#include "harness/engine/diagnosis/diagnosis_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

using test::input;
using test::Wronged;
using ::testing::HasSubstr;
using ::testing::Not;

Wronged integers() {
  return {test::row_quantize_op(), test::row_params(8, 16)};
}

Wronged sums() {
  return {test::product_op(), test::product_params(6, 24, 16)};
}

void multiply(HostTensor& tensor, double factor) {
  for (std::int64_t i = 0; i < tensor.numel(); ++i) set_element(tensor, i, tensor.at(i) * factor);
}

struct Said {
  ErrorKind kind = ErrorKind::Nan;
  std::string text;
};

Said said(const Wronged& wronged, double budget = ReferenceProbe::default_budget) {
  ReferenceProbe probe = wronged.probe(budget);
  const auto found = explain_by_counterfactuals(wronged.output(), probe);
  return found ? Said{found->explanation.kind, found->explanation.text} : Said{};
}

TEST(Counterfactuals, FindAZeroPointThatIsLeftOut) {
  Wronged wronged = integers();
  wronged.answer_of([&](Point& point) { multiply(input(wronged, point, "zero_point"), 0); });
  EXPECT_EQ(said(wronged).kind, ErrorKind::ZeroPoint);
  EXPECT_THAT(said(wronged).text, HasSubstr("zero_point were 0"));
}

TEST(Counterfactuals, FindAScaleThatIsAnother) {
  Wronged wronged = integers();
  wronged.answer_of([&](Point& point) { multiply(input(wronged, point, "scale"), 2); });
  EXPECT_EQ(said(wronged).kind, ErrorKind::Scale);
  EXPECT_THAT(said(wronged).text, HasSubstr("scale were twice it"));
}

TEST(Counterfactuals, FindParametersOfAnotherBlock) {
  Wronged wronged = integers();
  wronged.answer_of([&](Point& point) {
    for (const char* name : {"scale", "zero_point"}) {
      HostTensor& tensor = input(wronged, point, name);
      for (std::int64_t i = tensor.numel() - 1; i > 0; --i) set_element(tensor, i, tensor.at(i - 1));
    }
  });
  EXPECT_EQ(said(wronged).kind, ErrorKind::Block);
  EXPECT_THAT(said(wronged).text, HasSubstr("scale and zero_point were those of the neighbour 1 before"));
}

TEST(Counterfactuals, FindSumsThatStopEarly) {
  Wronged wronged = sums();
  wronged.answer_of([&](Point& point) {
    HostTensor& x = input(wronged, point, "x");
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      if (i % 24 >= 20) set_element(x, i, 0);
    }
  });
  EXPECT_EQ(said(wronged).kind, ErrorKind::Accumulation);
  EXPECT_THAT(said(wronged).text, HasSubstr("stopped at 20 of 24"));
}

TEST(Counterfactuals, FindABiasThatIsLeftOut) {
  Wronged wronged = sums();
  wronged.answer_of([&](Point& point) { multiply(input(wronged, point, "bias"), 0); });
  EXPECT_EQ(said(wronged).kind, ErrorKind::Accumulation);
  EXPECT_THAT(said(wronged).text, HasSubstr("the bias were left out"));
}

TEST(Counterfactuals, FindInputsReadInAnotherOrder) {
  Wronged wronged = sums();
  wronged.answer_of([&](Point& point) {
    HostTensor& w = input(wronged, point, "w");
    const HostTensor own = w;
    for (std::int64_t i = 0; i < w.numel(); ++i) set_element(w, i, own.at(i ^ 1));
  });
  EXPECT_EQ(said(wronged).kind, ErrorKind::Packing);
}

/// A kernel that takes the nearest pixels for the padding below x and to its right.
TEST(Counterfactuals, FindPaddingAtTheEndsAlone) {
  constexpr std::int64_t height = 12, width = 10;
  Wronged wronged(test::box_op(), test::box_params(height, width, {0, 0, 1, 1}));
  wronged.answer_of([&](Point& point) {
    const HostTensor x = input(wronged, point, "x");
    HostTensor framed(DType::F32, {1, 1, height + 1, width + 1});
    for (std::int64_t i = 0; i < framed.numel(); ++i) {
      const std::int64_t h = std::min(i / (width + 1), height - 1), w = std::min(i % (width + 1), width - 1);
      set_element(framed, i, x.at(h * width + w));
    }
    point.inputs[0] = std::move(framed);
    point.params = test::box_params(height + 1, width + 1, {0, 0});
  });
  EXPECT_EQ(said(wronged).kind, ErrorKind::Edge);
  EXPECT_THAT(said(wronged).text, HasSubstr("the padding were the nearest pixels"));
}

TEST(Counterfactuals, MoveNoImageThatHasPaddingAtItsEndsAlone) {
  const Wronged wronged(test::box_op(), test::box_params(6, 5, {0, 0, 1, 1}));
  for (const Counterfactual& change : counterfactuals(wronged.test_case(), wronged.probe().here()))
    EXPECT_THAT(change.text, Not(HasSubstr("were padding"))) << "there is none above and to the left";
}

/// The sums of integers() without the x for which `is_lost` holds along k.
Said said_without(const std::function<bool(std::int64_t k)>& is_lost) {
  Wronged wronged(test::product_op(), test::product_params(6, 64, 16));
  wronged.answer_of([&](Point& point) {
    HostTensor& x = input(wronged, point, "x");
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      if (is_lost(i % 64)) set_element(x, i, 0);
    }
  });
  return said(wronged);
}

TEST(Counterfactuals, FindHalfOfAReductionThatIsLeftOut) {
  const std::function<bool(std::int64_t)> first = [](std::int64_t k) { return k < 32; },
                                          second = [](std::int64_t k) { return k >= 32; },
                                          blocks = [](std::int64_t k) { return k / 8 % 2 == 1; };
  EXPECT_EQ(said_without(first).kind, ErrorKind::Accumulation);
  EXPECT_THAT(said_without(first).text, HasSubstr("left out the first half: they began at 32 of 64"));
  EXPECT_THAT(said_without(second).text, HasSubstr("left out the second half: they stopped at 32 of 64"));
  EXPECT_THAT(said_without(blocks).text, HasSubstr("left out half: the second of every two blocks of 8"));
}

TEST(Counterfactuals, DoNotCallOtherLossesHalf) {
  for (const std::function<bool(std::int64_t)>& is_lost :
       {std::function<bool(std::int64_t)>([](std::int64_t k) { return k >= 48; }),
        std::function<bool(std::int64_t)>([](std::int64_t k) { return k % 4 == 3; }),
        std::function<bool(std::int64_t)>([](std::int64_t k) { return k % 3 == 0; })})
    EXPECT_THAT(said_without(is_lost).text, Not(HasSubstr("half")));
}

TEST(Counterfactuals, FindNibblesThatAreSwapped) {
  const auto said_with = [](double (*misread)(unsigned)) {
    Wronged wronged(test::nibble_table_op(), test::row_params(6, 32));
    wronged.answer_of([&](Point& point) {
      HostTensor& w = input(wronged, point, "w");
      for (std::int64_t i = 0; i < w.numel(); ++i) set_element(w, i, misread(static_cast<unsigned>(w.at(i))));
    });
    return said(wronged);
  };
  const Said swapped =
      said_with([](unsigned bits) { return static_cast<double>(bits >> 4 | (bits & 15U) << 4); });
  EXPECT_EQ(swapped.kind, ErrorKind::Packing);
  EXPECT_THAT(swapped.text, HasSubstr("the nibbles of w were exchanged"));
  const Said twice = said_with([](unsigned bits) { return static_cast<double>((bits & 15U) * 17); });
  EXPECT_THAT(twice.text, HasSubstr("the low nibble of each byte of w were both"));
  const Said sign = said_with([](unsigned bits) { return static_cast<double>(bits ^ 0x88U); });
  EXPECT_EQ(sign.kind, ErrorKind::Sign);
  const Said inverted = said_with([](unsigned bits) { return static_cast<double>(bits ^ 0x35U); });
  EXPECT_THAT(inverted.text, Not(HasSubstr("nibble"))) << "other bits are no nibble that is swapped";
}

TEST(Counterfactuals, FindAStrideOfRowsForOneOfColumns) {
  Wronged wronged = sums();
  wronged.answer_of([&](Point& point) {
    HostTensor& w = input(wronged, point, "w");
    const HostTensor own = w;
    for (std::int64_t i = 0; i < w.numel(); ++i) set_element(w, i, own.at(i % 24 * 16 + i / 24));
  });
  EXPECT_EQ(said(wronged).kind, ErrorKind::Layout);
  EXPECT_THAT(said(wronged).text, HasSubstr("the strides of 16x24 in the order 1, 0, rows for columns"));
}

TEST(Counterfactuals, TellAStrideFromATransposedTensor) {
  Wronged wronged = sums();
  wronged.answer_of([&](Point& point) {
    HostTensor& w = input(wronged, point, "w");
    const HostTensor own = w;
    for (std::int64_t i = 0; i < w.numel(); ++i) set_element(w, i, own.at(i % 16 * 24 + i / 16));
  });
  EXPECT_THAT(said(wronged).text, HasSubstr("its place were the dims of 16x24 in the order 1, 0"));
  EXPECT_THAT(said(wronged).text, Not(HasSubstr("strides")));
}

TEST(Counterfactuals, FindScalesReadWithTheStrideOfRows) {
  Wronged wronged(test::nibble_table_op(), test::row_params(6, 32));
  wronged.answer_of([&](Point& point) {
    HostTensor& scale = input(wronged, point, "scale");
    const HostTensor own = scale;
    for (std::int64_t i = 0; i < own.numel(); ++i) set_element(scale, i, own.at(i % 4 * 6 + i / 4));
  });
  EXPECT_EQ(said(wronged).kind, ErrorKind::Block);
  EXPECT_THAT(said(wronged).text, HasSubstr("scale were those at the strides of rows for columns"));
}

TEST(Counterfactuals, FindGroupsInTheOrderOfAnotherUnpacking) {
  Wronged wronged(test::nibble_table_op(), test::row_params(6, 32));
  wronged.answer_of([&](Point& point) {
    HostTensor& w = input(wronged, point, "w");
    const HostTensor own = w;
    for (std::int64_t i = 0; i < w.numel(); ++i) {
      const std::int64_t group = i / 2 % 4;
      set_element(w, i, own.at(i + (group == 1 ? 2 : group == 2 ? -2 : 0)));
    }
  });
  EXPECT_EQ(said(wronged).kind, ErrorKind::Packing);
  EXPECT_THAT(said(wronged).text, HasSubstr("from the groups 0, 2, 1, 3 of every four groups of 2"));
}

TEST(Counterfactuals, SayNothingOfWhatNoneExplains) {
  Wronged wronged = sums();
  wronged.answer_by([&](std::int64_t i) { return wronged.expected(i) + static_cast<double>(i % 7 + 1) / 3; });
  EXPECT_EQ(said(wronged).text, "");
}

TEST(Counterfactuals, AreNotTriedWhereTheReferenceIsTooDear) {
  Wronged wronged = integers();
  wronged.answer_of([&](Point& point) { multiply(input(wronged, point, "zero_point"), 0); });
  EXPECT_EQ(said(wronged, 1).text, "");
}

TEST(ExplainTies, WhereHalvesAreRoundedAway) {
  Wronged wronged = integers();
  const auto steps = [&](std::int64_t i) {
    return wronged.inputs()[0].at(i) / wronged.inputs()[1].at(i / 16);
  };
  const auto half_away = [&](std::int64_t i) {
    return std::clamp(std::round(steps(i)) + wronged.inputs()[2].at(i / 16), -128.0, 127.0);
  };
  wronged.answer_by(half_away);
  ReferenceProbe probe = wronged.probe();
  const auto found = explain_ties(wronged.output(), probe);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->kind, ErrorKind::Rounding);
  EXPECT_EQ(found->share, 1);
  wronged.answer_by([&](std::int64_t i) { return wronged.expected(i) + (i % 2 == 0 ? 1 : 0); });
  ReferenceProbe again = wronged.probe();
  EXPECT_FALSE(explain_ties(wronged.output(), again).has_value()) << "off by one everywhere";
}

TEST(ExplainByAnyBlock, WhereEachElementHasSomeOtherBlocks) {
  Wronged wronged = integers();
  std::vector<HostTensor> by_block;
  for (std::int64_t block = 0; block < 8; ++block) {
    Wronged other = integers();
    other.answer_of([&](Point& point) {
      for (const char* name : {"scale", "zero_point"}) {
        HostTensor& tensor = input(wronged, point, name);
        const double value = tensor.at(block);
        for (std::int64_t i = 0; i < tensor.numel(); ++i) set_element(tensor, i, value);
      }
    });
    const WrongOutput output = other.output();
    HostTensor answer = wronged.expected();
    for (std::int64_t i = 0; i < answer.numel(); ++i) set_element(answer, i, output.got(i));
    by_block.push_back(answer);
  }
  wronged.answer_by([&](std::int64_t i) { return by_block[static_cast<std::size_t>(i * 5 / 3 % 8)].at(i); });
  ReferenceProbe probe = wronged.probe();
  const auto found = explain_by_any_block(wronged.output(), probe);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->kind, ErrorKind::Block);
}

TEST(ZerosOfOutput, AreTheZeroPoints) {
  const Wronged wronged = integers();
  ReferenceProbe probe = wronged.probe();
  const auto zeros = zeros_of_output(wronged.test_case(), probe);
  ASSERT_TRUE(zeros.has_value());
  for (std::int64_t i = 0; i < zeros->numel(); ++i) EXPECT_EQ(zeros->at(i), wronged.inputs()[2].at(i / 16));
}

}  // namespace
}  // namespace assay
