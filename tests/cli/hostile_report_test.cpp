#include "harness/report/journal/journal.h"
#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

// A report that somebody sent: what its journal holds starts no program and writes no file outside of the
// folders that the user names.

namespace assay::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string with(std::string text, const std::string& was, const std::string& is) {
  return text.replace(text.find(was), was.size(), is);
}

class HostileReport : public ::testing::Test {
 protected:
  /// A run whose last row has not ended.
  HostileReport() {
    const ProcessResult result = in_folder({"run", "c.yaml", "--out", "sent", "--ceilings", "none"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const fs::path device = device_folder(folder_ / "sent");
    journal_ = fs::canonical(device) / "journal.jsonl";
    text_ = read_file(journal_);
    text_.resize(text_.rfind(R"({"event":"begin")"));
    write_with({});
  }

  ProcessResult in_folder(std::vector<std::string> words) const {
    words.insert(words.begin(), ASSAY_BINARY);
    return run({.words = std::move(words), .directory = folder_.path()});
  }
  ProcessResult resume(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"run", "--resume", "sent"});
    return in_folder(more);
  }

  /// Adds these words to the command line that the journal has.
  void write_with(const std::vector<std::string>& words) const {
    std::string more;
    for (const std::string& word : words) more += fmt::format(",\"{}\"", word);
    std::ofstream(journal_, std::ios::trunc)
        << with(text_, R"("--ceilings","none")", R"("--ceilings","none")" + more);
  }
  std::string shaders() const {
    folder_.write("shaders/q8ta_pixel_shuffle.comp", "#version 450\nvoid main() {}\n");
    return "shaders";
  }
  /// The files that are new in the working folder, outside of the report.
  std::vector<std::string> new_files() const {
    const std::set<std::string> known{"c.yaml", "sent", "shaders"};
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename();
      if (!known.contains(name)) names.push_back(name);
    }
    return names;
  }
  bool is_complete() const { return read_journal(journal_).complete; }

  TemporaryFolder folder_;
  fs::path cases_ = folder_.write("c.yaml", shuffle_cases);
  fs::path journal_;
  std::string text_;
};

TEST_F(HostileReport, StartsNoProgramAndWritesNowhereWhenItIsResumed) {
  for (const auto& [option, value, effect] :
       {std::tuple("--worker-command", "touch LOOT; true", "it starts programs"),
        std::tuple("--dump", "LOOT", "it writes outside of the run's folder"),
        std::tuple("--github-summary", "LOOT", "it writes outside of the run's folder"),
        std::tuple("--answer-cache", "LOOT", "it writes outside of the run's folder"),
        std::tuple("--ceiling-store", "LOOT", "it writes outside of the run's folder"),
        std::tuple("--shaders", "shaders", "it runs other shaders"),
        std::tuple("--versus-shaders", "gone", "it runs other shaders")}) {
    shaders();
    write_with({option, value});
    const ProcessResult result = resume();
    EXPECT_EQ(result.exit_code, 2) << option;
    EXPECT_THAT(result.err,
                HasSubstr(fmt::format("its journal has the option {} '{}' ({}); a journal may be "
                                      "somebody else's, so this is never taken from it: give it again "
                                      "with the value that you want",
                                      option, value, effect)));
    EXPECT_THAT(new_files(), IsEmpty()) << option;
    EXPECT_FALSE(is_complete());
  }
}

TEST_F(HostileReport, NamesAllThatMustBeGivenAgain) {
  write_with({"--dump=LOOT", "--answer-cache", "none", "--worker-command", "touch LOOT; \\u001b[31m"});
  const ProcessResult result = resume();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(
      result.err,
      AllOf(HasSubstr("options --dump 'LOOT' (it writes outside of the run's folder) and --worker-command "
                      "'touch LOOT; \\x1b[31m' (it starts programs); "),
            HasSubstr("give each again"), Not(HasSubstr("--answer-cache"))));
  const ProcessResult partly = resume({"--dump", "mine"});
  EXPECT_EQ(partly.exit_code, 2);
  EXPECT_THAT(partly.err, AllOf(HasSubstr("the option --worker-command"), Not(HasSubstr("--dump"))));
  EXPECT_THAT(new_files(), IsEmpty());
}

TEST_F(HostileReport, IsResumedWithTheUsersOwnValues) {
  write_with({"--dump", "LOOT", "--github-summary", "LOOT", "--worker-command", "touch LOOT"});
  const ProcessResult result = resume(
      {"--dump", "mine", "--github-summary", "", "--worker-command", ASSAY_BINARY + std::string(" worker")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(new_files(), ::testing::ElementsAre("mine")) << "the worker has the same options";
  EXPECT_TRUE(is_complete());
}

TEST_F(HostileReport, DoesNothingOutsideWhenItIsRead) {
  write_with({"--dump", "LOOT", "--github-summary", "LOOT", "--answer-cache", "LOOT", "--ceiling-store",
              "LOOT", "--worker-command", "touch LOOT"});
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"report", "sent"},
                                             {"show", "sent", "--group", "status"},
                                             {"pivot", "sent", "sent"},
                                             {"summary", "sent"},
                                             {"compare", "sent", "sent"},
                                             {"page", "-", "sent"},
                                             {"export", "sent", "--openmetrics", "-"},
                                             {"verdict", "sent"},
                                             {"list", "c.yaml", "--shard", "1/2", "--balance", "sent"},
                                             {"merge", "sent/merged", "sent"}}) {
    const ProcessResult result = in_folder(words);
    EXPECT_THAT(result.exit_code, ::testing::AnyOf(0, 1, 2, 3)) << words[0] << result.err;
    EXPECT_THAT(new_files(), IsEmpty()) << words[0];
  }
}

TEST_F(HostileReport, FilesOutsideAreNotWrittenThroughItsLinks) {
  const fs::path precious = folder_.write("precious", "precious");
  for (const char* name : {"accu.csv", "run.json"}) {
    fs::remove(journal_.parent_path() / name);
    fs::create_symlink(precious, journal_.parent_path() / name);
  }
  EXPECT_EQ(in_folder({"report", "sent"}).exit_code, 3) << "a row has not ended";
  EXPECT_EQ(resume().exit_code, 0);
  EXPECT_EQ(read_file(precious), "precious");
}

}  // namespace
}  // namespace assay::test
