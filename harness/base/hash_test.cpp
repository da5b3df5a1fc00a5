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

/// The examples of FIPS 180-4.
TEST(SourceHashTest, MeetsTheKnownAnswersOfSha256) {
  EXPECT_EQ(source_hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(source_hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(source_hash("abc").size(), source_hash_digits);
}

TEST(SourceHashTest, CountedTextsAreNotMistakenForOthers) {
  const auto of = [](std::string_view a, std::string_view b) {
    std::string all;
    append_counted(all, a);
    append_counted(all, b);
    return all;
  };
  EXPECT_NE(of("ab", "c"), of("a", "bc"));
  EXPECT_NE(of("", "1:a"), of("1:a", ""));
}

}  // namespace

}  // namespace assay
