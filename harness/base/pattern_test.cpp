#include "harness/base/pattern.h"

#include "tests/support/error_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

TEST(Pattern, IsFoundAnywhereInAText) {
  EXPECT_TRUE(Pattern("H[12]00").is_in("NVIDIA H100 PCIe"));
  EXPECT_FALSE(Pattern("^H100").is_in("NVIDIA H100 PCIe"));
  EXPECT_FALSE(Pattern("nvidia").is_in("NVIDIA H100"));
  EXPECT_TRUE(Pattern("nvidia", Pattern::Case::Ignored).is_in("NVIDIA H100"));
  EXPECT_TRUE(Pattern("").is_in(""));
}

TEST(Pattern, SaysWhatIsWrongWithOne) {
  EXPECT_THAT(test::error_of([] { Pattern("(H100"); }), HasSubstr("missing )"));
  EXPECT_NE(test::error_of([] { Pattern("a{2,1}"); }), "");
}

TEST(Pattern, NeitherBacktracksNorExhaustsTheStack) {
  EXPECT_FALSE(Pattern("(a*)*(a*)*(a*)*$b").is_in(std::string(200000, 'a')));
  const std::string why = test::error_of([] { Pattern(std::string(30000, '(') + std::string(30000, ')')); });
  EXPECT_NE(why, "");
  EXPECT_LE(why.size(), 200U);
  EXPECT_NE(test::error_of([] { Pattern("((((((x{1000}){1000}){1000}){1000}){1000}){1000})"); }), "");
}

}  // namespace
}  // namespace assay
