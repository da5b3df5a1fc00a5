#include "harness/commands/farm/prune_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace assay::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string night_name(int day) {
  return "2026-01-0" + std::to_string(day);
}

FarmReport report_of(int day, const std::string& slug, const std::string& root) {
  const std::string run_id = "2026010" + std::to_string(day) + "T010000Z-1a2b3c";
  return {.path = std::filesystem::path(root) / "runs" / run_id / slug,
          .root = root,
          .run_id = run_id,
          .slug = slug,
          .bytes = 100,
          .is_complete = true};
}

/// A farm with this many judged nights, each with reports of these devices.
FarmTree farm_of(int nights, const std::vector<std::string>& devices) {
  FarmTree tree;
  for (int day = 1; day <= nights; ++day) {
    tree.nights.push_back({.path = night_name(day), .bytes = 150, .was_judged = true});
    for (const std::string& device : devices) tree.reports.push_back(report_of(day, device, night_name(day)));
  }
  return tree;
}

std::vector<std::string> removals(const FarmTree& tree, const PruneRules& rules) {
  std::vector<std::string> paths;
  for (const auto& path : plan_prune(tree, rules).removals) paths.push_back(path.string());
  return paths;
}

/// Why the report of that day is kept; empty: it is not.
std::string why_kept(const FarmTree& tree, const PruneRules& rules, int day,
                     const std::string& slug = "acme") {
  for (const PruneItem& item : plan_prune(tree, rules).reports) {
    if (item.path.string().starts_with(night_name(day) + "/") && item.device == slug)
      return item.is_removed ? "" : item.why;
  }
  return "there is none";
}

TEST(PrunePlan, RemovesAllNightsButTheNewest) {
  const FarmTree farm = farm_of(4, {"acme", "other"});
  const PrunePlan plan = plan_prune(farm, {.keep = 2});
  EXPECT_THAT(removals(farm, {.keep = 2}), ElementsAre(night_name(1), night_name(2)));
  EXPECT_EQ(plan.removed_bytes, 300U) << "with the nights' other files";
  EXPECT_EQ(why_kept(farm, {.keep = 2}, 3), "one of the newest 2");
  EXPECT_EQ(why_kept(farm, {.keep = 2}, 4), "the newest of its device");
  EXPECT_THAT(removals(farm, {.keep = 9}), IsEmpty());
}

TEST(PrunePlan, CountsTheReportsOfEachDevice) {
  FarmTree farm = farm_of(4, {"acme"});
  farm.reports.push_back(report_of(1, "rare", night_name(1)));
  EXPECT_THAT(
      removals(farm, {.keep = 1}),
      UnorderedElementsAre("2026-01-01/runs/20260101T010000Z-1a2b3c/acme", night_name(2), night_name(3)))
      << "the night of the rare device's only report stays, the other device's report in it goes";
  EXPECT_EQ(why_kept(farm, {.keep = 1}, 1, "rare"), "the newest of its device");
}

TEST(PrunePlan, CountsANightThatWasConcludedTwiceOnce) {
  FarmTree farm = farm_of(3, {"acme"});
  farm.reports.push_back(report_of(3, "acme", night_name(3)));
  farm.reports.back().path.replace_filename("acme-again");
  EXPECT_THAT(removals(farm, {.keep = 2}), ElementsAre(night_name(1)));
}

TEST(PrunePlan, KeepsWhatIsYoung) {
  const FarmTree farm = farm_of(4, {"acme"});
  EXPECT_THAT(removals(farm, {.begun_before = "20260103T000000Z"}),
              ElementsAre(night_name(1), night_name(2)));
  EXPECT_EQ(why_kept(farm, {.begun_before = "20260103T000000Z"}, 3), "young enough");
  EXPECT_THAT(removals(farm, {.begun_before = "20270101T000000Z"}),
              ElementsAre(night_name(1), night_name(2), night_name(3)));
}

TEST(PrunePlan, OfTwoRulesBothMustAllowIt) {
  const FarmTree farm = farm_of(5, {"acme"});
  EXPECT_THAT(removals(farm, {.keep = 3, .begun_before = "20260104T000000Z"}),
              ElementsAre(night_name(1), night_name(2)));
  EXPECT_THAT(removals(farm, {.keep = 1, .begun_before = "20260102T000000Z"}), ElementsAre(night_name(1)));
}

TEST(PrunePlan, KeepsWhatALinkLeadsTo) {
  FarmTree farm = farm_of(4, {"acme", "other"});
  farm.links = {{"last-good/acme", farm.reports[0].path}};
  EXPECT_EQ(why_kept(farm, {.keep = 1}, 1), "the link last-good/acme points to it");
  EXPECT_THAT(removals(farm, {.keep = 1}),
              UnorderedElementsAre(farm.reports[1].path.string(), night_name(2), night_name(3)));
  farm.links = {{"latest", night_name(1)}};
  EXPECT_EQ(why_kept(farm, {.keep = 1}, 1, "other"), "the link latest points to it");
  farm.links = {{"link", farm.reports[0].path / "accu.csv"}};
  EXPECT_EQ(why_kept(farm, {.keep = 1}, 1), "the link link points to it");
  farm.links = {{"link", night_name(1) + "/console"}};
  EXPECT_THAT(removals(farm, {.keep = 1}),
              UnorderedElementsAre(farm.reports[0].path.string(), farm.reports[1].path.string(),
                                   night_name(2), night_name(3)))
      << "the night is needed, its reports are not";
}

TEST(PrunePlan, KeepsWhatIsBeingWritten) {
  FarmTree farm = farm_of(3, {"acme", "other"});
  farm.reports[0].is_written = true;
  EXPECT_EQ(why_kept(farm, {.keep = 1}, 1), "a run is writing it");
  EXPECT_EQ(why_kept(farm, {.keep = 1}, 1, "other"), "runs of its night have not ended");
  farm.reports[0].is_written = false;
  farm.shards = {
      {.path = "2026-01-01/shards/acme", .night = night_name(1), .slug = "acme", .is_written = true}};
  EXPECT_EQ(why_kept(farm, {.keep = 1}, 1), "runs of its night have not ended");
}

TEST(PrunePlan, KeepsWhatIsNotOurs) {
  FarmTree farm = farm_of(3, {"acme", "other"});
  farm.reports[0].foreign = "notes.txt";
  EXPECT_EQ(why_kept(farm, {.keep = 1}, 1), "it holds notes.txt");
  EXPECT_EQ(why_kept(farm, {.keep = 1}, 1, "other"), "");
  farm.nights[0].foreign = "my folder";
  EXPECT_EQ(why_kept(farm, {.keep = 1}, 1, "other"), "its night holds my folder");
}

TEST(PrunePlan, ANightThatNobodyJudgedKeepsItsFolder) {
  FarmTree farm = farm_of(2, {"acme"});
  farm.nights[0].was_judged = false;
  EXPECT_THAT(removals(farm, {.keep = 1}), ElementsAre(farm.reports[0].path.string()));
}

TEST(PrunePlan, ANightWithoutReportsStays) {
  FarmTree farm = farm_of(2, {"acme"});
  farm.nights.push_back({.path = "2025-12-31", .was_judged = true});
  EXPECT_THAT(removals(farm, {.keep = 1}), ElementsAre(night_name(1)));
}

TEST(PrunePlan, OfAnOutputFolderRemovesRunsAndCountsScratchApart) {
  FarmTree tree;
  tree.reports = {report_of(1, "acme", ""), report_of(2, "acme", ""), report_of(3, "acme", "scratch"),
                  report_of(4, "acme", "scratch")};
  EXPECT_THAT(removals(tree, {.keep = 1}),
              UnorderedElementsAre(tree.reports[0].path.string(), tree.reports[2].path.string()));
}

// ---- shards

struct PlannedShards : ::testing::Test {
  PlannedShards() {
    farm = farm_of(3, {"acme"});
    for (int day = 1; day <= 3; ++day) {
      farm.shards.push_back(
          {.path = night_name(day) + "/shards/acme", .night = night_name(day), .slug = "acme", .bytes = 40});
    }
  }
  std::string why_shards_stay(int day) const {
    const PruneItem item = plan_prune(farm, {.shards = true}).shards.at(day - 1);
    return item.is_removed ? "" : item.why;
  }
  FarmTree farm;
};

TEST_F(PlannedShards, GoOnceTheirReportIsMerged) {
  const PrunePlan plan = plan_prune(farm, {.shards = true});
  EXPECT_THAT(removals(farm, {.shards = true}),
              ElementsAre("2026-01-01/shards/acme", "2026-01-02/shards/acme"));
  EXPECT_EQ(plan.removed_bytes, 80U);
  EXPECT_EQ(why_shards_stay(3), "from the newest night");
}

TEST_F(PlannedShards, StayUnlessAsked) {
  EXPECT_THAT(removals(farm, {.keep = 9}), IsEmpty());
  EXPECT_THAT(plan_prune(farm, {.keep = 9}).shards.at(0).why, HasSubstr("--shards"));
}

TEST_F(PlannedShards, GoWithTheirNightAndAreCountedOnce) {
  const PrunePlan plan = plan_prune(farm, {.keep = 2, .shards = true});
  EXPECT_THAT(removals(farm, {.keep = 2, .shards = true}),
              ElementsAre(night_name(1), "2026-01-02/shards/acme"));
  EXPECT_EQ(plan.removed_bytes, 150U + 40U);
  EXPECT_EQ(plan.shards.at(0).why, "with their night");
}

TEST_F(PlannedShards, StayWithoutACompleteReport) {
  farm.reports[0].is_complete = false;
  EXPECT_EQ(why_shards_stay(1), "no complete report was merged from them");
  farm.reports[0].is_complete = true;
  farm.shards[0].slug = "another";
  EXPECT_EQ(why_shards_stay(1), "no complete report was merged from them");
}

TEST_F(PlannedShards, StayWhenTheyAreWrittenForeignOrNeeded) {
  farm.shards[0].is_written = true;
  EXPECT_EQ(why_shards_stay(1), "a run is writing them");
  farm.shards[0].is_written = false;
  farm.shards[0].foreign = "notes.txt";
  EXPECT_EQ(why_shards_stay(1), "they hold notes.txt");
  farm.links = {{"link", "2026-01-01/shards/acme/1"}};
  EXPECT_EQ(why_shards_stay(1), "the link link points to them");
}

}  // namespace
}  // namespace assay::app
