#include "harness/commands/run/output/run_folder.h"

#include "harness/base/error.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace assay::app {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// An output folder that is yet to be made.
struct FolderDesk {
  test::TemporaryFolder folder;
  fs::path out = folder.path() / "out";
  std::ostringstream log;

  static void write_journal(const fs::path& device_folder) {
    fs::create_directories(device_folder);
    std::ofstream(device_folder / "journal.jsonl") << "{}\n";
  }

  /// As a run does it: makes its folder, writes a journal, moves the link. Returns the device's folder.
  fs::path run(const std::string& device) {
    RunFolder run(out);
    const std::vector<std::string> devices = {device};
    run.make(devices);
    write_journal(run.of_device(device));
    run.link(device, log);
    return run.of_device(device);
  }

  std::string refusal(bool overwrite = false) const {
    RunOptions options;
    options.out = out;
    options.overwrite = overwrite;
    try {
      refuse_used_folder(options);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::Usage);
      return error.what();
    }
  }
};

TEST(RunFolder, IsNamedByTheRunBelowRuns) {
  const RunFolder run("out");
  EXPECT_THAT(run.run_id(), ::testing::MatchesRegex("[0-9]+T[0-9]+Z-[0-9a-f]+"));
  EXPECT_EQ(run.of_device("acme"), fs::path("out/runs") / run.run_id() / "acme");
  EXPECT_NE(RunFolder("out").run_id(), run.run_id());
}

TEST(RunFolder, TheLinkNamesTheNewestRunAndTheOlderOneStays) {
  FolderDesk desk;
  const fs::path first = desk.run("acme");
  const fs::path second = desk.run("acme");
  ASSERT_NE(first, second);
  EXPECT_TRUE(fs::exists(first / "journal.jsonl"));
  EXPECT_TRUE(fs::is_symlink(desk.out / "acme"));
  EXPECT_TRUE(fs::equivalent(desk.out / "acme", second));
  EXPECT_EQ(desk.log.str(), "");
}

TEST(RunFolder, TheLinkIsRelativeSoThatTheFolderMayMove) {
  FolderDesk desk;
  const fs::path run = desk.run("acme");
  EXPECT_EQ(fs::read_symlink(desk.out / "acme"), fs::relative(run, desk.out));
  fs::rename(desk.out, desk.folder.path() / "moved");
  EXPECT_TRUE(fs::exists(desk.folder.path() / "moved/acme/journal.jsonl"));
}

TEST(RunFolder, LeavesNothingBesideTheReports) {
  FolderDesk desk;
  const fs::path run = desk.run("acme").parent_path();
  EXPECT_EQ(std::distance(fs::directory_iterator(desk.out), {}), 2) << "runs and the link";
  EXPECT_EQ(std::distance(fs::directory_iterator(run), {}), 1) << "the device's folder";
}

TEST(RunFolder, ALaterRoundGoesIntoTheSameFolder) {
  FolderDesk desk;
  RunFolder run(desk.out);
  const std::vector<std::string> devices = {"acme"};
  run.make(devices);
  const fs::path first = run.of_device("acme");
  run.make(devices);
  EXPECT_EQ(run.of_device("acme"), first);
}

TEST(RunFolder, AFolderInTheLinksPlaceIsRefusedAndKept) {
  FolderDesk desk;
  FolderDesk::write_journal(desk.out / "acme");
  try {
    desk.run("acme");
    FAIL() << "a folder of reports was replaced by a link";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::Usage);
    EXPECT_THAT(error.what(), HasSubstr("mv '" + (desk.out / "acme").string() + "'"));
  }
  EXPECT_TRUE(fs::exists(desk.out / "acme/journal.jsonl"));
  EXPECT_FALSE(fs::exists(desk.out / "runs")) << "nothing is made for a run that is refused";
}

TEST(RunFolder, WhereALinkCannotBeMadeTheRunGoesOnAndSaysWhere) {
  FolderDesk desk;
  RunFolder run(desk.out);
  const std::vector<std::string> devices = {"acme"};
  run.make(devices);
  fs::create_directories(desk.out / "acme/in_the_way");  // came between the check and the link
  run.link("acme", desk.log);
  EXPECT_THAT(desk.log.str(), HasSubstr("its reports are in " + run.of_device("acme").string()));
  EXPECT_TRUE(fs::exists(desk.out / "acme/in_the_way"));
}

TEST(RefuseUsedFolder, TakesAFolderWithoutAJournal) {
  FolderDesk desk;
  EXPECT_EQ(desk.refusal(), "");
  fs::create_directories(desk.out / "runs");
  std::ofstream(desk.out / "notes.txt") << "mine";
  EXPECT_EQ(desk.refusal(), "");
}

TEST(RefuseUsedFolder, ARunIsBesideWhichOnlyOverwriteMayGo) {
  for (const char* place : {"acme", "runs/20260102T030405Z-1a2b3c/acme"}) {
    FolderDesk desk;
    FolderDesk::write_journal(desk.out / place);
    EXPECT_THAT(desk.refusal(), HasSubstr("already holds a run, in '" + (desk.out / place).string() + "'"));
    EXPECT_THAT(desk.refusal(), HasSubstr("--overwrite"));
    EXPECT_EQ(desk.refusal(true), "");
  }
}

TEST(RefuseUsedFolder, ADevicesOwnFolderIsNoPlaceForARun) {
  FolderDesk desk;
  FolderDesk::write_journal(desk.out);
  for (const bool overwrite : {false, true})
    EXPECT_THAT(desk.refusal(overwrite), HasSubstr("is itself the folder of a run on one device"));
}

TEST(OutputRoot, LooksAtSomeCasesGoToScratch) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "c.yaml") << "";
  const auto root = [](const auto& change) {
    RunOptions options;
    change(options);
    return output_root(options).string();
  };
  EXPECT_EQ(root([](RunOptions&) {}), "assay-out");
  EXPECT_EQ(root([](RunOptions& o) { o.cases.tiers = {"smoke"}; }), "assay-out")
      << "a tier is a set of its own";
  EXPECT_EQ(root([&](RunOptions& o) { o.cases.files = {folder.path()}; }), "assay-out");
  EXPECT_EQ(root([&](RunOptions& o) { o.cases.files = {folder.path() / "c.yaml"}; }), "assay-out/scratch");
  EXPECT_EQ(root([](RunOptions& o) { o.cases.filter = "*"; }), "assay-out/scratch");
  EXPECT_EQ(root([](RunOptions& o) { o.cases.ops = {"x"}; }), "assay-out/scratch");
  EXPECT_EQ(root([](RunOptions& o) { o.cases.impls = {"x"}; }), "assay-out/scratch");
  EXPECT_EQ(root([](RunOptions& o) { o.cases.mode = "perf"; }), "assay-out/scratch");
  EXPECT_EQ(root([](RunOptions& o) { o.watch = true; }), "assay-out/scratch");
  EXPECT_EQ(root([](RunOptions& o) {
              o.watch = true;
              o.out = "mine";
            }),
            "mine");
}

}  // namespace
}  // namespace assay::app
