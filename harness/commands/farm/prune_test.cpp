#include "harness/commands/farm/prune.h"

#include "harness/commands/farm/farm_tree.h"
#include "harness/commands/find_report.h"
#include "harness/report/journal/journal.h"
#include "tests/support/tell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

namespace assay::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
namespace fs = std::filesystem;

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
    tree.nights.push_back({.path = night_name(day), .bytes = 150, .is_night = true});
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

TEST(PrunePlan, AFolderThatIsNoNightIsKept) {
  FarmTree farm = farm_of(2, {"acme"});
  farm.nights[0].is_night = false;
  farm.shards = {{.path = "2026-01-01/shards/acme", .night = night_name(1), .slug = "acme", .bytes = 40}};
  const PruneRules rules{.keep = 1, .shards = true};
  EXPECT_THAT(removals(farm, rules), IsEmpty());
  EXPECT_EQ(why_kept(farm, rules, 1), "2026-01-01 is no night: it has neither nightly.json nor plan");
  EXPECT_EQ(plan_prune(farm, rules).shards.at(0).why,
            "2026-01-01 is no night: it has neither nightly.json nor plan");
}

TEST(PrunePlan, ANightWithoutReportsStays) {
  FarmTree farm = farm_of(2, {"acme"});
  farm.nights.push_back({.path = "2025-12-31", .is_night = true});
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

/// A farm's folder with nights of the 1st, 2nd, ... of January.
struct Prune : ::testing::Test {
  static std::string run_id(int day) { return "2026010" + std::to_string(day) + "T010000Z-1a2b3c"; }
  static std::string night_name(int day) { return "2026-01-0" + std::to_string(day); }
  fs::path night(int day) const { return farm / night_name(day); }

  /// As a run leaves it in an output folder. Returns the device's folder.
  static fs::path run(const fs::path& out, int day, const std::string& slug = "acme") {
    const fs::path target = fs::path("runs") / run_id(day) / slug;
    RunInfo info = test::sample_run();
    info.run_id = run_id(day);
    Journal journal(out / target / "journal.jsonl");
    test::tell(journal, {test::passed("a")}, info);
    test::write_file(out / target / "accu.csv", "schema\n");
    fs::remove(out / slug);
    fs::create_directory_symlink(target, out / slug);
    return out / target;
  }

  fs::path whole_night(int day, const std::string& slug = "acme") const {
    fs::path report = run(night(day), day, slug);
    test::write_file(night(day) / "nightly.json", "{}");
    test::write_file(night(day) / "verdict.txt", "GOOD");
    return report;
  }

  ExitCode prune(PruneOptions options) {
    if (options.folder.empty()) options.folder = farm.path();
    printed.str("");
    told.str("");
    return app::prune(options, {printed, told, told});
  }

  std::set<std::string> left() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(farm.path())) names.insert(entry.path().filename());
    return names;
  }

  test::TemporaryFolder farm;
  std::ostringstream printed, told;
};

TEST_F(Prune, RemovesOldNightsAndSaysWhatItDid) {
  for (int day = 1; day <= 3; ++day) whole_night(day);
  fs::create_directory_symlink(night(3), farm / "latest");  // absolute
  EXPECT_EQ(prune({.keep = 2}), ExitCode::Fine);
  EXPECT_THAT(left(), ElementsAre("2026-01-02", "2026-01-03", "latest"));
  EXPECT_THAT(printed.str(), HasSubstr("remove  "));
  EXPECT_THAT(printed.str(), HasSubstr(night_name(1) + "/runs/" + run_id(1) + "/acme  2 newer\n"));
  EXPECT_THAT(printed.str(), HasSubstr("acme: 1 report, "));
  EXPECT_THAT(printed.str(), HasSubstr("in all: 1 folder, "));
  EXPECT_EQ(told.str(), "");
}

TEST_F(Prune, OnTrialRemovesNothing) {
  for (int day = 1; day <= 3; ++day) whole_night(day);
  EXPECT_EQ(prune({.keep = 1, .dry_run = true}), ExitCode::Fine);
  EXPECT_EQ(left().size(), 3U);
  EXPECT_THAT(printed.str(), HasSubstr("would be removed"));
}

TEST_F(Prune, KeepsTheLastGoodNight) {
  for (int day = 1; day <= 3; ++day) whole_night(day);
  fs::create_directory(farm / "last-good");
  fs::create_directory_symlink("../" + night_name(1) + "/runs/" + run_id(1) + "/acme",
                               farm / "last-good/acme");
  prune({.keep = 1});
  EXPECT_THAT(left(), ElementsAre("2026-01-01", "2026-01-03", "last-good"));
  EXPECT_TRUE(fs::exists(farm / "last-good/acme/journal.jsonl"));
}

TEST_F(Prune, GoesByTheDayOfTheRunNotOfItsFiles) {
  whole_night(1);
  whole_night(2);
  EXPECT_EQ(prune({.older_than_days = 36500}), ExitCode::Fine);
  EXPECT_EQ(left().size(), 2U);
  EXPECT_EQ(prune({.older_than_days = 0}), ExitCode::Fine) << "the 1st of January 2026 is past";
  EXPECT_THAT(left(), ElementsAre("2026-01-02"));
}

TEST_F(Prune, OfAnOutputFolderRemovesRunsAndTheirEmptyFolders) {
  const fs::path first = run(farm.path(), 1), second = run(farm.path(), 2);
  run(farm.path(), 1, "other");
  EXPECT_EQ(prune({.keep = 1}), ExitCode::Fine);
  EXPECT_FALSE(fs::exists(first));
  EXPECT_TRUE(fs::exists(first.parent_path() / "other/journal.jsonl"));
  EXPECT_TRUE(fs::exists(second / "journal.jsonl"));
  fs::remove_all(farm / "runs" / run_id(1) / "other");
  fs::remove(farm / "other");
  const fs::path third = run(farm.path(), 3);
  EXPECT_EQ(prune({.keep = 1}), ExitCode::Fine);
  EXPECT_FALSE(fs::exists(second.parent_path())) << "nothing is left of the run";
  EXPECT_TRUE(fs::equivalent(farm / "acme", third));
}

TEST_F(Prune, RemovesTheLinkOfAReportThatIsGone) {
  whole_night(1, "acme");
  whole_night(1, "rare");
  whole_night(2, "acme");
  prune({.keep = 1});
  EXPECT_FALSE(fs::exists(fs::symlink_status(night(1) / "acme")));
  EXPECT_TRUE(fs::exists(night(1) / "rare/journal.jsonl"));
}

TEST_F(Prune, LeavesARunThatIsBeingWritten) {
  const fs::path first = whole_night(1);
  whole_night(2);
  const Journal running(first / "journal.jsonl", true);
  EXPECT_EQ(prune({.keep = 1}), ExitCode::Fine);
  EXPECT_TRUE(fs::exists(first / "journal.jsonl"));
  EXPECT_THAT(printed.str(), HasSubstr("a run is writing it"));
}

TEST_F(Prune, FinishesWhatAKillLeft) {
  whole_night(1);
  whole_night(2);
  fs::rename(night(1), farm / (deleting_prefix + night_name(1)));
  run(night(2), 1);
  const fs::path run_folder = night(2) / "runs" / run_id(1);
  fs::rename(run_folder / "acme", run_folder / (std::string(deleting_prefix) + "acme"));
  fs::remove(night(2) / "acme");
  EXPECT_EQ(prune({.keep = 5}), ExitCode::Fine);
  EXPECT_THAT(left(), ElementsAre("2026-01-02"));
  EXPECT_FALSE(fs::exists(run_folder));
}

TEST_F(Prune, RemovesShardsThatWereMerged) {
  for (int day = 1; day <= 2; ++day) {
    whole_night(day);
    run(night(day) / "shards/acme/1", day);
  }
  EXPECT_EQ(prune({.shards = true}), ExitCode::Fine);
  EXPECT_FALSE(fs::exists(night(1) / "shards/acme"));
  EXPECT_TRUE(fs::exists(night(1) / "acme/journal.jsonl"));
  EXPECT_TRUE(fs::exists(night(2) / "shards/acme/1/acme/journal.jsonl"));
}

TEST_F(Prune, KeepsShardsWhoseReportIsNotComplete) {
  const fs::path journal = whole_night(1) / "journal.jsonl";
  const std::string text = test::read_file(journal);
  test::write_file(journal, text.substr(0, text.rfind(R"({"event":"done")")));
  run(night(1) / "shards/acme/1", 1);
  whole_night(2);
  prune({.shards = true});
  EXPECT_TRUE(fs::exists(night(1) / "shards/acme/1/acme/journal.jsonl"));
}

TEST_F(Prune, WhatIsHalfDeletedIsNoReport) {
  const fs::path report = run(farm.path(), 1);
  fs::rename(report, report.parent_path() / (std::string(deleting_prefix) + "acme"));
  fs::remove(farm / "acme");
  EXPECT_THROW(static_cast<void>(journals_of(farm.path())), Error);
}

// ---- hostile trees

TEST_F(Prune, FollowsNoLinkOutOfTheFolder) {
  const test::TemporaryFolder elsewhere;
  const fs::path theirs = run(elsewhere.path(), 1);
  fs::create_directory_symlink(elsewhere / "runs", farm / "runs");
  fs::create_directory_symlink(elsewhere.path(), farm / "2026-01-01");
  whole_night(2);
  whole_night(3);
  fs::create_directory_symlink(elsewhere.path(), night(2) / "other");
  EXPECT_EQ(prune({.keep = 1}), ExitCode::Fine);
  EXPECT_TRUE(fs::exists(theirs / "journal.jsonl"));
  EXPECT_TRUE(fs::exists(night(2) / "acme/journal.jsonl")) << "a night with a link that leads out of it";
  EXPECT_THAT(printed.str(), HasSubstr("its night holds other, a link that leads out of it"));
}

TEST_F(Prune, KeepsALinkedFolderInsideOfAReport) {
  const test::TemporaryFolder elsewhere;
  elsewhere.write("precious.txt", "text");
  const fs::path first = whole_night(1);
  whole_night(2);
  fs::create_directory_symlink(elsewhere.path(), first / "dump");
  prune({.keep = 1});
  EXPECT_TRUE(fs::exists(first / "dump")) << "a report with what no run writes";
  EXPECT_EQ(elsewhere.read("precious.txt"), "text");
}

TEST_F(Prune, TakesLoopsDanglingLinksAndOddNames) {
  whole_night(1, "a device\nof two lines");
  whole_night(2, "a device\nof two lines");
  fs::create_directory_symlink("loop", farm / "loop");
  fs::create_directory_symlink(".", night(1) / "self");
  fs::create_directory_symlink("no/such/night", farm / "latest");
  farm.write("notes of mine/runs and more/x.txt", "text");
  farm.write("runs/20260101T010000Z-1a2b3c/acme/notes.txt", "no journal");
  farm.write("runs/not a run/acme/journal.jsonl", "{}");
  EXPECT_EQ(prune({.keep = 1}), ExitCode::Fine) << told.str();
  EXPECT_FALSE(fs::exists(night(1)));
  EXPECT_TRUE(fs::exists(farm / "runs/20260101T010000Z-1a2b3c/acme/notes.txt"));
  EXPECT_TRUE(fs::exists(farm / "runs/not a run/acme/journal.jsonl"));
  EXPECT_TRUE(fs::exists(farm / "notes of mine/runs and more/x.txt"));
  EXPECT_TRUE(fs::is_symlink(farm / "latest")) << "prune removes no dangling link";
}

TEST_F(Prune, KeepsNightsThatHoldWhatIsNotOurs) {
  for (int day = 1; day <= 4; ++day) whole_night(day);
  test::write_file(night(1) / "notes.txt", "text");
  fs::create_directory(night(2) / "runs/mine");
  fs::remove(night(3) / "nightly.json");
  prune({.keep = 1});
  EXPECT_TRUE(fs::exists(night(1) / "acme/journal.jsonl"));
  EXPECT_TRUE(fs::exists(night(2) / "acme/journal.jsonl"));
  EXPECT_TRUE(fs::exists(night(3) / "verdict.txt"));
  EXPECT_TRUE(fs::exists(night(3) / "runs" / run_id(3))) << "it is no night";
}

TEST_F(Prune, KeepsOutputFoldersWhoseLinksLeadToTheirNewestRuns) {
  for (int day = 1; day <= 2; ++day) run(farm / "before", day);
  run(farm / "after", 3);
  EXPECT_EQ(prune({.keep = 1}), ExitCode::Fine);
  EXPECT_TRUE(fs::exists(farm / "before/acme/journal.jsonl")) << "the target of a link";
  EXPECT_TRUE(fs::exists(farm / "before/runs" / run_id(1) / "acme/journal.jsonl"));
  EXPECT_THAT(printed.str(), HasSubstr("before is no night: "));
}

TEST_F(Prune, KeepsNightsForWhichFuzzFoundCases) {
  for (int day = 1; day <= 3; ++day) {
    whole_night(day);
    fs::create_directories(night(day) / "fuzz/acme/1/runs");
    test::write_file(night(day) / "fuzz/acme/1/runs/x.yaml", "op: x");
  }
  test::write_file(night(2) / "fuzz/acme/1/x_1.yaml", "op: x");
  prune({.keep = 1});
  EXPECT_FALSE(fs::exists(night(1)));
  EXPECT_TRUE(fs::exists(night(2) / "acme/journal.jsonl"));
}

// ---- usage

TEST_F(Prune, RefusesWhatCannotBeMeant) {
  whole_night(1);
  const auto refusal = [&](const PruneOptions& options) {
    try {
      static_cast<void>(prune(options));
      return std::string("nothing was refused");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::Usage);
      return std::string(error.what());
    }
  };
  EXPECT_THAT(refusal({}), HasSubstr("--keep N (all but the newest N"));
  EXPECT_THAT(refusal({.folder = farm / "nowhere", .keep = 1}), HasSubstr("is no folder"));
  EXPECT_THAT(refusal({.folder = night(1), .keep = 1}), HasSubstr("is one night"));
  fs::create_directory(farm / "empty");
  EXPECT_THAT(refusal({.folder = farm / "empty", .keep = 1}), HasSubstr("holds no run and no night"));
}

}  // namespace

}  // namespace assay::app
