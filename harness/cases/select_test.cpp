#include "harness/cases/select.h"

#include "harness/cases/tests/case_file_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace assay {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Select, AStarIsAnyTextAndAQuestionMarkAnyCharacter) {
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a*c", "abbc"));
  EXPECT_TRUE(glob_matches("a*c", "ac"));
  EXPECT_TRUE(glob_matches("*/4W4C.*", "op/name/4W4C.4C1W/fused"));
  EXPECT_TRUE(glob_matches("a?c", "abc"));
  EXPECT_TRUE(glob_matches("*ab", "aab"));
  EXPECT_FALSE(glob_matches("", "a"));
  EXPECT_FALSE(glob_matches("a?c", "ac"));
  EXPECT_FALSE(glob_matches("a*c", "abcd"));
  EXPECT_FALSE(glob_matches("a.c", "abc"));
}

TEST(Select, ManyStarsTakeNoExponentialTime) {
  const std::string text(2000, 'a');
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  pattern += "b";
  EXPECT_FALSE(glob_matches(pattern, text)) << "in exponential time this would never end";
}

TEST(Select, AFilterHasPositiveAndNegativeGlobs) {
  EXPECT_TRUE(filter_matches("", "a/b"));
  EXPECT_TRUE(filter_matches("*", "a/b"));
  EXPECT_TRUE(filter_matches("x:a*", "a/b"));
  EXPECT_TRUE(filter_matches("a*-*c", "a/b"));
  EXPECT_TRUE(filter_matches("-*c", "a/b"));
  EXPECT_FALSE(filter_matches("x:y", "a/b"));
  EXPECT_FALSE(filter_matches("*-*b", "a/b"));
  EXPECT_FALSE(filter_matches("-x:*b", "a/b"));
  EXPECT_FALSE(filter_matches("a", "a/b")) << "the whole id must match";
}

std::vector<std::string> ids_of(const std::vector<Case>& cases, const std::string& filter) {
  std::vector<std::string> ids;
  for (const Case* one : select(cases, {.filter = filter})) ids.push_back(one->id);
  return ids;
}

// Reports add "/cold" to the ids of cold rows, and users copy them from there.
TEST(Select, TakesTheIdsOfColdRows) {
  const std::vector<Case> cases = load_good(R"(op: q8ta_pixel_shuffle
sets:
  q: {scale: 0.5, zero_point: 1}
defaults: {upscale_factor: 2, shape: [1, 4, 2, 2], x: q, y: q, impl: fused, mode: perf}
cases:
  - {name: c, cache: cold}
  - {name: b, cache: both}
  - {name: h}
  - {name: a, mode: accu}
)");
  const std::string c = "q8ta_pixel_shuffle/c/4W4C.4W4C/fused", b = "q8ta_pixel_shuffle/b/4W4C.4W4C/fused",
                    h = "q8ta_pixel_shuffle/h/4W4C.4W4C/fused", a = "q8ta_pixel_shuffle/a/4W4C.4W4C/fused";
  EXPECT_THAT(ids_of(cases, c + "/cold"), ElementsAre(c));
  EXPECT_THAT(ids_of(cases, c), ElementsAre(c));
  EXPECT_THAT(ids_of(cases, "*/cold"), ElementsAre(c, b));
  EXPECT_THAT(ids_of(cases, "-*/cold"), ElementsAre(h, a));
  EXPECT_THAT(ids_of(cases, h + "/cold:" + a + "/cold"), IsEmpty());
  EXPECT_THAT(unmatched_globs(h + "/cold:" + c + "/cold:*nothing", cases),
              ElementsAre(h + "/cold", "*nothing"));
  EXPECT_THAT(unmatched_globs(h + "/cold", cases), IsEmpty()) << "where none matches, it is an error";
  EXPECT_THAT(unmatched_globs(c + "-x", cases), IsEmpty()) << "what is left out need not be there";
}

std::vector<Case> some_cases() {
  return load_good(R"(op: q8ta_pixel_shuffle
sets:
  q: {scale: 0.5, zero_point: 1}
defaults: {upscale_factor: 2, shape: {each: [[1, 4, 2, 2], [1, 8, 2, 2]]}, x: q, y: q}
cases:
  - {name: a, mode: accu, tier: smoke, impl: all}
  - {name: p, mode: perf, tier: ci}
  - {name: b, mode: both, tier: nightly}
)");
}

std::vector<std::string> names_of(const std::vector<Case>& cases, const Selection& selection) {
  std::vector<std::string> names;
  for (const Case* test_case : select(cases, selection)) {
    if (names.empty() || names.back() != test_case->name) names.push_back(test_case->name);
  }
  return names;
}

TEST(Select, SelectsByModeTierImplAndOp) {
  const std::vector<Case> cases = some_cases();
  ASSERT_EQ(cases.size(), 8u);
  EXPECT_THAT(names_of(cases, {}), ElementsAre("a", "p", "b"));
  EXPECT_THAT(names_of(cases, {.mode = Mode::Accu}), ElementsAre("a", "b"));
  EXPECT_THAT(names_of(cases, {.mode = Mode::Perf}), ElementsAre("p", "b"));
  EXPECT_THAT(names_of(cases, {.tiers = {Tier::Smoke, Tier::Ci}}), ElementsAre("a", "p"));
  EXPECT_THAT(names_of(cases, {.impls = {"unfused"}}), ElementsAre("a"));
  EXPECT_THAT(names_of(cases, {.impls = {"nothing", "*fused"}}), ElementsAre("a", "p", "b"));
  EXPECT_THAT(names_of(cases, {.ops = {"quantize*"}}), IsEmpty());
  EXPECT_THAT(names_of(cases, {.filter = "*/1x8x2x2/*-*/b/*", .ops = {"q8ta*"}}), ElementsAre("a", "p"));
}

TEST(Select, GroupsShareTheirDataWhateverTheirName) {
  const std::vector<Case> cases = some_cases();
  const std::vector<Group> groups = group_by_data(select(cases, {}));
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].cases.size(), 4u);
  EXPECT_EQ(groups[0].cases[0]->id, "q8ta_pixel_shuffle/a/1x4x2x2/4W4C.4W4C/fused");
  EXPECT_EQ(groups[0].cases[1]->id, "q8ta_pixel_shuffle/a/1x4x2x2/4W4C.4W4C/unfused");
  EXPECT_EQ(groups[0].cases[2]->id, "q8ta_pixel_shuffle/p/1x4x2x2/4W4C.4W4C/fused");
  EXPECT_EQ(groups[1].cases[0]->id, "q8ta_pixel_shuffle/a/1x8x2x2/4W4C.4W4C/fused");
}

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
