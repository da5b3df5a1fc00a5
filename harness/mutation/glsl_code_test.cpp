#include "harness/mutation/glsl_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace assay::mutation {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> texts(const GlslCode& code) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < code.size(); ++i) all.emplace_back(code.text(i));
  return all;
}

TEST(GlslCode, HasWordsNumbersAndSymbolsWithTheirPlaces) {
  const GlslCode code("a <<= 0x1fu;\n  b.x >= 1.5e-3");
  EXPECT_THAT(texts(code), ElementsAre("a", "<<=", "0x1fu", ";", "b", ".", "x", ">=", "1.5e-3"));
  EXPECT_EQ(code.at(6).line, 2);
  EXPECT_EQ(code.at(6).column, 5);
  EXPECT_EQ(code.line(2), "  b.x >= 1.5e-3");
}

TEST(GlslCode, PassesOverCommentsAndDirectives) {
  const GlslCode code("// a + b\nc /* d\n e */ f\n  #define G(x) \\\n  x + 1\nh");
  EXPECT_THAT(texts(code), ElementsAre("c", "f", "h"));
  EXPECT_EQ(code.at(1).line, 3);
  EXPECT_EQ(code.at(2).line, 6);
}

// Faults would else be made in comments, and none in code.
TEST(GlslCode, EndsALineAtACarriageReturnAlone) {
  const GlslCode code("// a\rb\r#define G c\rd\r\n#define H \\\r\n e\r\nf");
  EXPECT_THAT(texts(code), ElementsAre("b", "d", "f"));
  EXPECT_EQ(code.at(2).line, 4) << "lines are counted by their line feeds";
}

TEST(GlslCode, PassesOverACommentThatNeverEnds) {
  EXPECT_THAT(texts(GlslCode("a /* b")), ElementsAre("a"));
}

TEST(GlslCode, KnowsASignFromADifference) {
  const GlslCode code("return -a - b * (-c)");
  EXPECT_FALSE(code.is_binary(1));
  EXPECT_TRUE(code.is_binary(3));
  EXPECT_TRUE(code.is_binary(5));
  EXPECT_FALSE(code.is_binary(7));
}

TEST(GlslCode, FindsTheEndOfAnOperand) {
  const GlslCode code("a + b.c[i] * f(x, y) - d");
  EXPECT_EQ(code.text(code.end_of_operand(2, precedence_of("+"))), "-");
  EXPECT_EQ(code.text(code.end_of_operand(2, precedence_of("*"))), "*");
}

TEST(GlslCode, FindsTheStartOfAChain) {
  const GlslCode code("x + push.axes[i].size");
  EXPECT_EQ(code.text(code.start_of_chain(code.size() - 1)), "push");
}

TEST(GlslCode, MarksLayoutsAndStructs) {
  const GlslCode code("layout(constant_id = 3) const uint n = 4u;\nstruct A { uint b; } a;\nuint c = 1u;");
  for (std::size_t i = 0; i < code.size(); ++i)
    EXPECT_EQ(code.at(i).is_layout, code.at(i).line < 3) << code.text(i);
}

TEST(GlslCode, LeavesBracketsAloneThatTheBranchesOfADirectiveShare) {
  const GlslCode code("#if A\nif (a) {\n#else\nif (b) {\n#endif\n}");
  EXPECT_EQ(code.at(4).partner, no_token);
  EXPECT_NE(code.at(9).partner, no_token);
}

}  // namespace
}  // namespace assay::mutation
