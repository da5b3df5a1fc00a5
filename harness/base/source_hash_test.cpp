#include "harness/base/source_hash.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

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
