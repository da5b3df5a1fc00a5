#include "harness/base/words.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WordsIn, AreBetweenWhiteSpace) {
  EXPECT_THAT(words_in("M=8 N=16"), ElementsAre("M=8", "N=16"));
  EXPECT_THAT(words_in("  one\ttwo\n"), ElementsAre("one", "two"));
  EXPECT_THAT(words_in(" "), IsEmpty());
}

}  // namespace
}  // namespace assay
