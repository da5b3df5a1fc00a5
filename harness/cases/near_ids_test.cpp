#include "harness/cases/near_ids.h"

#include <gtest/gtest.h>

#include <array>

namespace assay {
namespace {

constexpr std::array<std::string_view, 5> ids{
    "view/small/1x16/4W4C.4W4C/fused", "view/small/1x24/4W4C.4W4C/fused", "view/small/1x32/4W4C.4W4C/fused",
    "view/small/1x40/4W4C.4W4C/fused", "linear/llama/WP.WP/tiled"};

TEST(NearIds, CountsWhatMustChangeUntilAGlobMatches) {
  EXPECT_EQ(glob_distance("view/*", ids[0], 9), 0u);
  EXPECT_EQ(glob_distance("vew/*", ids[0], 9), 1u);
  EXPECT_EQ(glob_distance("v?ew/*/fuzdd", ids[0], 9), 2u);
  EXPECT_EQ(glob_distance("*small", ids[0], 30), 4u) << "the end 'sed' becomes it";
  EXPECT_EQ(glob_distance("veiw/*", ids[0], 9), 1u) << "neighbours that are swapped";
  EXPECT_EQ(glob_distance("", "abc", 9), 3u);
  EXPECT_EQ(glob_distance("abc", "", 9), 3u);
  EXPECT_EQ(glob_distance("abcdef", "uvwxyz", 2), 3u) << "more than asked for";
}

TEST(NearIds, OffersTheGlobWithStarsWhereOnlyTheseAreMissing) {
  EXPECT_EQ(near_ids_text("view", ids), "; '*view*' would match 4, such as view/small/1x16/4W4C.4W4C/fused");
  EXPECT_EQ(near_ids_text("llama/WP.WP", ids),
            "; '*llama/WP.WP*' would match 1, such as linear/llama/WP.WP/tiled");
}

TEST(NearIds, NamesThoseThatDifferLeast) {
  EXPECT_EQ(near_ids_text("linaer/*", ids), "; the nearest: linear/llama/WP.WP/tiled");
  EXPECT_EQ(near_ids_text("lamma", ids), "; the nearest: linear/llama/WP.WP/tiled");
  EXPECT_EQ(near_ids_text("view/smal/*", ids),
            "; the nearest: view/small/1x16/4W4C.4W4C/fused, view/small/1x24/4W4C.4W4C/fused, "
            "view/small/1x32/4W4C.4W4C/fused and 1 more");
  EXPECT_EQ(near_ids_text("frobnicate*", ids), "");
  EXPECT_EQ(near_ids_text("", ids), "");
}

TEST(NearIds, OfAFilterAreThoseOfItsPositiveGlobs) {
  EXPECT_EQ(near_filter_text("linaer/*-*fused", ids), "; the nearest: linear/llama/WP.WP/tiled");
  EXPECT_EQ(near_filter_text("-*", ids), "");
}

}  // namespace
}  // namespace assay
