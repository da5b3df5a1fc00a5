#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace assay::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// scripts/release.sh in a small repository whose scripts/package.sh packs one file.
class Release : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* script : {"lib.sh", "release.sh"}) {
      fs::create_directories(tree / "scripts");
      fs::copy_file(fs::path(ASSAY_SOURCE_DIR) / "scripts" / script, tree / "scripts" / script);
    }
    tree.write("scripts/package.sh", "#!/bin/sh\nmkdir -p \"$1\"\necho packed >\"$1/assay\"\n");
    fs::permissions(tree / "scripts/package.sh", fs::perms::owner_all);
    tree.write("CMakeLists.txt", "project(assay VERSION 1.2.3 LANGUAGES CXX)\n");
    tree.write("CHANGELOG.md",
               "# Changelog\n\n## 1.2.3 - 2026-01-02\n\n- New.\n\n## 1.2.2 - 2025-01-02\n\n- Old.\n");
    tree.write("shaders/copy.comp", "void main() {}\n");
    git({"init", "--quiet"});
    commit();
    publish();
    commit();
  }

  void git(std::vector<std::string> words) {
    words.insert(words.begin(), {"git", "-c", "user.name=a", "-c", "user.email=a@example.org"});
    const ProcessResult result = run({.words = words, .directory = tree.path()});
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  void commit() {
    git({"add", "--all"});
    git({"commit", "--quiet", "--message", "Next"});
  }
  /// A report that was made by the commit at hand.
  void publish(const std::string& name = "acme") {
    const ProcessResult head =
        run({.words = {"git", "rev-parse", "--short=12", "HEAD"}, .directory = tree.path()});
    tree.write("reports/published/" + name + "/run.json",
               "{\n  \"device\": {\n    \"name\": \"Acme 5\",\n    \"driver_info\": \"7.1\"\n  },\n"
               "  \"version\": \"1.2.3+" +
                   head.out.substr(0, 12) + "\",\n  \"complete\": true\n}\n");
  }
  ProcessResult release(std::vector<std::string> words = {}) {
    words.insert(words.begin(), "scripts/release.sh");
    words.push_back(out / "made");
    return run({.words = words, .directory = tree.path()});
  }
  void expect_refused(const std::string& reason) {
    const ProcessResult result = release();
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(reason));
    EXPECT_FALSE(fs::exists(out / "made"));
  }

  TemporaryFolder tree;
  TemporaryFolder out;
};

TEST_F(Release, HasThePackageTheReportsNotesAndChecksums) {
  const ProcessResult result = release();
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const ProcessResult sums =
      run({.words = {"sha256sum", "--check", "SHA256SUMS"}, .directory = out / "made"});
  EXPECT_EQ(sums.exit_code, 0) << sums.err;
  EXPECT_EQ(sums.out, "assay-1.2.3-reports.tar.xz: OK\nassay-1.2.3-x86_64.tar.xz: OK\nnotes.md: OK\n");
  const std::string notes = out.read("made/notes.md");
  EXPECT_THAT(notes, AllOf(HasSubstr("# assay 1.2.3\n"), HasSubstr("- New.\n"), Not(HasSubstr("- Old.")),
                           HasSubstr("| acme | Acme 5 | 7.1 | "), Not(HasSubstr("draft"))));
  const ProcessResult files = run({.words = {"tar", "-tJf", out / "made/assay-1.2.3-x86_64.tar.xz"}});
  EXPECT_EQ(files.out, "assay-1.2.3-x86_64/\nassay-1.2.3-x86_64/assay\n");
  EXPECT_THAT(run({.words = {"tar", "-tJf", out / "made/assay-1.2.3-reports.tar.xz"}}).out,
              HasSubstr("assay-1.2.3-reports/acme/run.json\n"));
}

TEST_F(Release, OfOneCommitIsTheSameTwice) {
  ASSERT_EQ(release().exit_code, 0);
  const std::string first = out.read("made/SHA256SUMS");
  ASSERT_EQ(release().exit_code, 0) << "an older one is replaced";
  EXPECT_EQ(out.read("made/SHA256SUMS"), first);
}

TEST_F(Release, IsRefusedWhereAFileIsNotCommitted) {
  tree.write("shaders/other.comp", "");
  expect_refused("files are not committed");
}

TEST_F(Release, IsRefusedWhereTheVersionIsNotClosed) {
  tree.write("CHANGELOG.md", "## 1.2.3 - unreleased\n");
  commit();
  expect_refused("CHANGELOG.md has no heading '## 1.2.3 - YYYY-MM-DD'");
}

TEST_F(Release, LeavesOutReportsOfOtherKernels) {
  tree.write("shaders/copy.comp", "void main() { }\n");
  commit();
  publish("newer");
  tree.write("reports/published/unknown/run.json", "{\n  \"version\": \"1.2.3+0123456789ab\"\n}\n");
  commit();
  const ProcessResult result = release();
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("Left out: reports/published/acme was made by "),
                                HasSubstr("Left out: reports/published/unknown was made by 0123456789ab")));
  EXPECT_THAT(out.read("made/notes.md"),
              AllOf(HasSubstr("| newer | Acme 5 | "), Not(HasSubstr("| acme | ")),
                    HasSubstr("- reports/published/acme was made by "),
                    HasSubstr(": files that its figures depend on have changed since, 1 in all\n"),
                    HasSubstr("- reports/published/unknown was made by 0123456789ab, a commit that is not in "
                              "this repository\n")));
  EXPECT_THAT(run({.words = {"tar", "-tJf", out / "made/assay-1.2.3-reports.tar.xz"}}).out,
              AllOf(HasSubstr("/newer/run.json"), Not(HasSubstr("acme")), Not(HasSubstr("unknown"))));
}

TEST_F(Release, IsRefusedWhereNoReportIsOfItsKernels) {
  tree.write("shaders/copy.comp", "void main() { }\n");
  commit();
  expect_refused("no published report was made by the code of this commit: run and publish one");
}

TEST_F(Release, MayBeADraftThatSaysWhatItLacks) {
  tree.write("CHANGELOG.md", "## 1.2.3 - unreleased\n\n- New.\n");
  const ProcessResult result = release({"--draft"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(out.read("made/notes.md"),
              AllOf(HasSubstr("This is a draft"), HasSubstr("files are not committed"),
                    HasSubstr("no heading"), HasSubstr("- New.\n")));
}

TEST_F(Release, ReplacesNothingThatIsNoRelease) {
  out.write("made/SHA256SUMS", "of something else");
  EXPECT_THAT(release().err, HasSubstr("is not a release of assay alone; not replacing it"));
  out.write("made/notes.md", "# assay 1.2.2\n");
  out.write("made/precious", "");
  const ProcessResult result = release();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("is not a release of assay alone; not replacing it"));
  EXPECT_EQ(out.read("made/SHA256SUMS"), "of something else");
  fs::remove(out / "made/precious");
  EXPECT_EQ(release().exit_code, 0) << "an older release is replaced";
}

}  // namespace
}  // namespace assay::test
