#include "harness/base/hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(HashTest, MeetsTheKnownAnswersOfXxh3) {
  EXPECT_EQ(hash_hex(std::string_view()), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2U);
}

TEST(HashTest, AHashIs32LowerCaseHexDigits) {
  for (const char* text : {"", "a", "assay"}) {
    EXPECT_THAT(hash_hex(text), testing::MatchesRegex("[0-9a-f]+"));
    EXPECT_EQ(hash_hex(text).size(), 32U);
  }
}

TEST(HashTest, BytesAndTextOfEqualContentHashEqual) {
  const std::string_view text = "the same";
  EXPECT_EQ(hash_hex(text), hash_hex(std::as_bytes(std::span(text))));
  EXPECT_NE(hash_hex(text), hash_hex("the sane"));
}

TEST(HashTest, PiecesHashLikeTheWhole) {
  Hasher hasher;
  hasher.feed("the ");
  hasher.feed("");
  hasher.feed("same");
  EXPECT_EQ(hasher.result(), hash_hex("the same"));
}

}  // namespace
}  // namespace assay
