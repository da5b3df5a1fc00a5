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

namespace assay::test {

// Names, arguments and files whose words a terminal would obey, or that are larger than anybody writes them.

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* nasty = "\x1b[31m\xC2\x9B\xE2\x80\xAE";  // colour, C1's own escape, right to left
constexpr const char* shown = "\\x1b[31m\\x9b\\u202e";

void expect_harmless(const ProcessResult& result) {
  for (const char* raw : {"\x1b", "\xC2\x9B", "\xE2\x80\xAE"}) {
    EXPECT_THAT(result.out, Not(HasSubstr(raw)));
    EXPECT_THAT(result.err, Not(HasSubstr(raw)));
  }
  EXPECT_THAT(result.out + result.err, HasSubstr(shown));
}

TEST(HostileWords, ReachNoTerminal) {
  const TemporaryFolder folder;
  const std::string file = folder.write(std::string(nasty) + ".yaml", shuffle_cases);
  expect_harmless(assay({"list", "--long", file}));
  expect_harmless(assay({"run", file, "--out", folder / (std::string("out") + nasty)}));
  expect_harmless(assay({"run", folder / nasty}));
  expect_harmless(assay({"list", std::string("--") + nasty}));
  expect_harmless(assay({"show", folder / nasty, "x"}));
  expect_harmless(assay({"compare", folder / nasty, folder / nasty}));
  expect_harmless(assay({"page", folder / "p.html", folder / nasty}));
  const std::string damaged = folder.write(std::string("lost") + nasty + "/journal.jsonl", "{\"event\":\n");
  for (const char* command : {"report", "pivot", "summary"}) expect_harmless(assay({command, damaged}));
  expect_harmless(assay({"page", folder / "p.html", damaged}));
  expect_harmless(assay({"export", damaged, "--openmetrics", "-"}));
  expect_harmless(assay({"merge", folder / "merged", damaged}));
  expect_harmless(assay({"run", file, "--expect-device", std::string("(") + nasty}));
}

TEST(HostileWords, APatternOfThirtyThousandParenthesesIsRefused) {
  const TemporaryFolder folder;
  const std::string deep = std::string(30000, '(') + std::string(30000, ')');
  const ProcessResult result = assay({"run", folder.write("c.yaml", shuffle_cases), "--expect-device", deep});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("is not a valid regular expression"));
  EXPECT_LT(result.err.size(), 500U);
}

TEST(HostileWords, ListSaysWhyNothingIsSelected) {
  const TemporaryFolder folder;
  const ProcessResult result = assay({"list", folder.write("c.yaml", shuffle_cases), "--filter", "nothing"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("none of 4 is selected by --filter 'nothing'"));
}

TEST(HostileWords, ANameOf300LettersCanBeDumped) {
  const TemporaryFolder folder;
  std::string text = shuffle_cases;
  text.replace(text.find("small"), 5, std::string(300, 'n'));
  const ProcessResult result =
      assay({"run", folder.write("c.yaml", text), "--out", folder / "out", "--dump", folder / "dump"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST(HostileWords, ADamagedJournalCanBeSalvaged) {
  const TemporaryFolder folder;
  ASSERT_EQ(assay({"run", folder.write("c.yaml", shuffle_cases), "--out", folder / "out"}).exit_code, 0);
  const std::filesystem::path journal = device_folder(folder / "out") / "journal.jsonl";
  std::string text = read_file(journal);
  text[text.find(R"({"event":"end","row":1)") + 3] = '\0';
  write_file(journal, text);
  const ProcessResult refused = assay({"report", folder / "out"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("assay report --salvage"));
  const ProcessResult salvaged = assay({"report", folder / "out", "--salvage"});
  EXPECT_EQ(salvaged.exit_code, 3) << "a row is MISSING";
  EXPECT_THAT(salvaged.err, HasSubstr(": left out: it is not valid JSON"));
  EXPECT_THAT(salvaged.err, HasSubstr(": 1 line was left out"));
  const std::string csv = read_file(device_folder(folder / "out") / "accu.csv");
  EXPECT_THAT(csv, HasSubstr("MISSING"));
  EXPECT_THAT(csv, HasSubstr("PASS"));
}

TEST(HostileWords, AFolderThatCannotBeReadIsTheSameErrorEverywhere) {
  const TemporaryFolder folder;
  const std::string loop = folder / "loop";
  std::filesystem::create_symlink("loop", loop);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"report", loop},
                                             {"show", loop, "x"},
                                             {"pivot", loop},
                                             {"summary", loop},
                                             {"compare", loop, loop},
                                             {"page", folder / "p.html", loop},
                                             {"merge", folder / "m", loop},
                                             {"verdict", loop},
                                             {"run", "--resume", loop}}) {
    const ProcessResult result = assay(words);
    EXPECT_EQ(result.exit_code, 3) << words[0];
    EXPECT_THAT(result.err, HasSubstr(loop + ": Too many levels of symbolic links")) << words[0];
  }
}

TEST(HostileWords, OneNumberThatNoDoubleHoldsIsNoInternalError) {
  const TemporaryFolder folder;
  folder.write("journal.jsonl", "{\"event\":\"run\",\"schema\":3,\"run_id\":\"x\",\"seed\":1e999}\n");
  for (const char* command : {"report", "pivot", "summary"}) {
    const ProcessResult result = assay({command, folder.path()});
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_THAT(result.err, HasSubstr("journal.jsonl:1: "));
  }
}

// GLSL of --shaders that does not mean well: it is compiled in a process of its own.

/// The reason of the row that the shader `text` belongs to, and the run's result.
class Shaders {
 public:
  explicit Shaders(const std::string& text) {
    folder_.write("mine/q8ta_pixel_shuffle.comp", text);
    result = run({.words = {ASSAY_BINARY, "run", folder_.write("c.yaml", cases), "--shaders",
                            folder_ / "mine", "--out", folder_ / "out"},
                  .environment = {{"XDG_CACHE_HOME", folder_ / "cache"}}});
    if (std::filesystem::exists(folder_ / "out"))
      report = read_journal(device_folder(folder_ / "out") / "journal.jsonl");
  }

  ProcessResult result;
  RunReport report;

 private:
  static constexpr const char* cases = R"(op: q8ta_pixel_shuffle
cases:
  - name: small
    upscale_factor: 2
    shape: [1, 16, 4, 4]
    qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
)";
  TemporaryFolder folder_;
};

/// Each level includes the previous level several times.
std::string macro_bomb(int levels, const std::string& what) {
  std::string text = "#version 450\n#define X0 " + what + "\n";
  for (int i = 1; i <= levels; ++i) {
    const std::string below = " X" + std::to_string(i - 1);
    text += "#define X" + std::to_string(i);
    for (int k = 0; k < 10; ++k) text += below;
    text += '\n';
  }
  return text + "void main() { int x = 0; X" + std::to_string(levels) + " }\n";
}

TEST(HostileShaders, AMacroBombFailsItsRowInBoundsOfTimeAndMemory) {
  const Shaders bomb(macro_bomb(9, "x = x + 1;"));
  EXPECT_EQ(bomb.result.exit_code, 1) << bomb.result.out << bomb.result.err;
  ASSERT_EQ(bomb.report.records.size(), 1U);
  EXPECT_EQ(bomb.report.records[0].status, Status::Fail);
  EXPECT_THAT(bomb.report.records[0].reason, HasSubstr("do macros expand without end?"));
#ifndef __SANITIZE_ADDRESS__  // which no limit of memory goes with
  EXPECT_LE(bomb.result.max_rss_kib, 2 << 20) << "of the run and the compiler that it waited for";
#endif
}

TEST(HostileShaders, AnIncludeNamesNoFileOutsideOfTheFolder) {
  for (const std::string include : {"/etc/passwd", "../../../../../../etc/passwd", "common/../../c.yaml"}) {
    const Shaders shaders("#version 450\n#include \"" + include + "\"\nvoid main() {}\n");
    EXPECT_EQ(shaders.result.exit_code, 1) << shaders.result.err;
    ASSERT_EQ(shaders.report.records.size(), 1U);
    EXPECT_THAT(shaders.report.records[0].reason,
                HasSubstr("an include names a file below the shader folder"));
    EXPECT_THAT(shaders.report.records[0].reason, Not(HasSubstr("root:")));
  }
}

TEST(HostileShaders, AnErrorIsToldAsThatOfAnEmbeddedOne) {
  const Shaders shaders("#version 450\nvoid main() { nothing; }\n");
  EXPECT_EQ(shaders.result.exit_code, 1) << shaders.result.err;
  ASSERT_EQ(shaders.report.records.size(), 1U);
  EXPECT_THAT(shaders.report.records[0].reason,
              HasSubstr("mine/q8ta_pixel_shuffle.comp:2: error: 'nothing' : undeclared identifier\n"
                        "    2 | void main() { nothing; }"));
}

// A report that somebody sent: what its journal holds starts no program and writes no file outside of the
// folders that the user names.

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::IsEmpty;

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
