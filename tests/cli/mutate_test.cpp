#include "tests/support/assay_binary.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tree_shader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

// `assay mutate` as a user runs it. What it does is tested next to harness/commands/mutate.

namespace assay::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* mutated_relu_cases = R"(op: q8ta_relu
defaults: {x: {scale: 0.05, zero_point: -20}, y: {scale: 0.011, zero_point: -100}, fill: uniform}
cases:
  - {name: shown, shape: {each: [[3, 43], [2, 5, 6, 7]]}}
)";

/// With so little to see, faults survive.
constexpr const char* one_element_of_relu = R"(op: q8ta_relu
defaults: {x: {scale: 0.05, zero_point: -20}, y: {scale: 0.011, zero_point: -100}, fill: uniform}
cases:
  - {name: shown, shape: [1, 1]}
)";

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

auto lines_in(const std::string& text) {
  return std::ranges::count(text, '\n');
}

class MutateCommand : public testing::Test {
 protected:
  MutateCommand() { folder.write("cases.yaml", mutated_relu_cases); }

  ProcessResult mutate(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"mutate", "--cases", folder / "cases.yaml", "--out", out()});
    return assay(arguments);
  }
  std::string out() const { return folder / "out"; }
  std::string journal() const { return out() + "/faults.jsonl"; }

  TemporaryFolder folder;
};

TEST_F(MutateCommand, TheExitCodeIsThatOfTheLowestScoreThatIsAsked) {
  folder.write("cases.yaml", one_element_of_relu);
  ASSERT_EQ(mutate({"q8ta_relu.comp", "--limit", "12", "--jobs", "1"}).exit_code, 1);
  EXPECT_EQ(assay({"mutate", "--resume", out(), "--least", "99.9"}).exit_code, 1);
  EXPECT_EQ(assay({"mutate", "--resume", out(), "--least", "1"}).exit_code, 0);
}

TEST_F(MutateCommand, KillsFaultsAndWritesTheMatrix) {
  const ProcessResult result = mutate({"q8ta_relu.comp", "--limit", "8", "--jobs", "1"});
  EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("score     "));
  const std::string matrix = text_of(out() + "/kill_matrix.csv");
  EXPECT_EQ(lines_in(matrix), 9);
  EXPECT_THAT(matrix, HasSubstr(",killed,2,q8ta_relu/shown/"));
  EXPECT_THAT(text_of(out() + "/faults.md"), HasSubstr("| elementwise/q8ta_relu.comp | "));
  EXPECT_EQ(result.exit_code == 0, matrix.find(",survived,") == std::string::npos) << matrix;

  // A run that lost its last result finds it again.
  const std::string whole = text_of(journal());
  std::ofstream(journal()) << whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1);
  const ProcessResult resumed = assay({"mutate", "--resume", out(), "--jobs", "1"});
  EXPECT_EQ(resumed.exit_code, result.exit_code) << resumed.err;
  EXPECT_EQ(lines_in(text_of(journal())), lines_in(whole));
}

TEST_F(MutateCommand, RowsThatFailWithoutAFaultShowNothing) {
  std::string wrong = tree_shader("elementwise/q8ta_relu.comp");
  const std::string right = "rectified(words[k]);";
  wrong.replace(wrong.rfind(right), right.size(), "rectified(words[k]) ^ 1u;");
  folder.write("shaders/elementwise/q8ta_relu.comp", wrong);
  const ProcessResult result =
      mutate({"q8ta_relu.comp", "--shaders", folder / "shaders", "--limit", "4", "--jobs", "1"});
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_THAT(text_of(out() + "/kill_matrix.csv"), HasSubstr("do not pass without the fault"));
  EXPECT_THAT(text_of(out() + "/kill_matrix.csv"), testing::Not(HasSubstr(",survived,")));
}

TEST_F(MutateCommand, AShaderThatDoesNotCompileIsAnError) {
  folder.write("shaders/elementwise/q8ta_relu.comp", tree_shader("elementwise/q8ta_relu.comp") + "\nno;\n");
  const ProcessResult result =
      mutate({"q8ta_relu.comp", "--shaders", folder / "shaders", "--limit", "1", "--jobs", "1"});
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_THAT(result.err, HasSubstr("q8ta_relu.comp does not compile without any fault"));
}

TEST_F(MutateCommand, ListsFaultsWithoutTryingThem) {
  const ProcessResult result = mutate({"q8ta_relu.comp", "--limit", "5", "--list"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(lines_in(result.out), 5);
  EXPECT_THAT(result.out, HasSubstr("  elementwise/q8ta_relu.comp:"));
  EXPECT_EQ(mutate({"q8ta_relu.comp", "--limit", "5", "--list"}).out, result.out);
  EXPECT_NE(mutate({"q8ta_relu.comp", "--limit", "5", "--list", "--seed", "2"}).out, result.out);
  EXPECT_EQ(text_of(journal()), "");
}

TEST_F(MutateCommand, AKernelThatIsReplacedHasNoFaults) {
  folder.write("shaders/q8ta_relu.comp", tree_shader("elementwise/q8ta_relu.comp"));
  const ProcessResult result = mutate({"q8ta_relu.comp", "--shaders", folder / "shaders", "--list"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("  q8ta_relu.comp:"));
  EXPECT_THAT(result.out, testing::Not(HasSubstr("elementwise/q8ta_relu.comp:")));
}

/// The entries of the kernel that a file at the top of the folder replaces were said to be of no file.
TEST_F(MutateCommand, EntriesAboutAKernelThatIsReplacedAreNotStale) {
  folder.write("shaders/q8ta_relu.comp", tree_shader("elementwise/q8ta_relu.comp"));
  folder.write("equivalent.yaml",
               "- fault: 000000000000\n  file: elementwise/q8ta_relu.comp\n  operator: term_dropped\n"
               "  line: 00000000\n  reason: of the embedded kernel\n");
  const ProcessResult result =
      mutate({"q8ta_relu.comp", "--shaders", folder / "shaders", "--limit", "1", "--jobs", "1", "--least",
              "0", "--equivalent", folder / "equivalent.yaml"});
  EXPECT_THAT(result.out, HasSubstr("score ")) << result.err;
  EXPECT_THAT(result.err, testing::Not(HasSubstr("wrong: ")));
}

TEST_F(MutateCommand, SaysPlainlyThatNothingChanged) {
  folder.write("tree/shaders/q8ta_relu.comp", tree_shader("elementwise/q8ta_relu.comp"));
  const std::string git = "git -C '" + (folder / "tree").string() + "' -c user.name=a -c user.email=a@b ";
  ASSERT_EQ(std::system((git + "init -q && " + git + "add . && " + git + "commit -qm a").c_str()), 0);
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, std::vector<std::string>{"--list"}}) {
    std::vector<std::string> words{"q8ta_relu.comp", "--since", "HEAD", "--shaders", folder / "tree/shaders"};
    words.insert(words.end(), more.begin(), more.end());
    const ProcessResult result = mutate(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("nothing changed since "));
    EXPECT_EQ(result.out, "");
  }
}

/// It was an error without --since, and none with it.
TEST_F(MutateCommand, AShardWithoutFaultsIsNoError) {
  const std::vector<std::string> words{"q8ta_relu.comp", "--limit", "1", "--shard", "2/2"};
  const ProcessResult result = mutate(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("shard 2/2 has no fault"));
  EXPECT_EQ(lines_in(text_of(out() + "/kill_matrix.csv")), 1) << "the names of the columns";
}

/// It left no journal, so that whoever merged had to know which shards were empty.
TEST_F(MutateCommand, MergesShardsWithoutFaults) {
  const auto run = [&](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> words{"mutate", "--out", folder / name};
    words.insert(words.end(), more.begin(), more.end());
    return assay(words);
  };
  const auto shard = [&](const std::string& name, const char* part) {
    return run(name, {"q8ta_relu.comp", "--cases", folder / "cases.yaml", "--limit", "1", "--jobs", "1",
                      "--shard", part});
  };
  EXPECT_EQ(shard("a", "1/3").exit_code, 0);
  EXPECT_EQ(shard("b", "2/3").exit_code, 0);
  EXPECT_EQ(shard("c", "3/3").exit_code, 0);
  const ProcessResult merged = run("m", {"--merge", folder / "c", folder / "a", folder / "b"});
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_EQ(lines_in(text_of(folder / "m/kill_matrix.csv")), 2);
  EXPECT_EQ(run("n", {"--merge", folder / "b", folder / "c"}).exit_code, 2) << "no fault was tried";
}

TEST_F(MutateCommand, SharesFaultsAmongShards) {
  const std::string all = mutate({"q8ta_relu.comp", "--list"}).out;
  std::string parts;
  for (const char* shard : {"1/3", "2/3", "3/3"})
    parts += mutate({"q8ta_relu.comp", "--list", "--shard", shard}).out;
  EXPECT_EQ(lines_in(parts), lines_in(all));
}

TEST_F(MutateCommand, MergesShardsIntoTheMatrixOfOneRun) {
  const std::vector<std::string> choice{
      "mutate", "q8ta_relu.comp", "--cases", folder / "cases.yaml", "--limit", "6", "--jobs", "1"};
  const auto run = [&](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> words = choice;
    more.insert(more.end(), {"--out", folder / name});
    words.insert(words.end(), more.begin(), more.end());
    return assay(words);
  };
  run("a", {"--shard", "1/2"});
  run("b", {"--shard", "2/2"});
  const ProcessResult merged = assay({"mutate", "--merge", folder / "b", folder / "a", "--out", out()});
  EXPECT_THAT(merged.out, HasSubstr("score     ")) << merged.err;
  const std::string matrix = text_of(out() + "/kill_matrix.csv");
  EXPECT_EQ(lines_in(matrix), 7);
  EXPECT_EQ(matrix.find(",not run,"), std::string::npos) << matrix;
  const ProcessResult resumed = assay({"mutate", "--resume", out(), "--jobs", "1"});
  EXPECT_EQ(resumed.exit_code, merged.exit_code) << resumed.err;
  EXPECT_EQ(text_of(out() + "/kill_matrix.csv"), matrix) << "nothing was left to try";

  run("c", {"--shard", "2/2", "--seed", "7"});
  const ProcessResult refused =
      assay({"mutate", "--merge", folder / "a", folder / "c", "--out", folder / "d"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--seed is '7', and '1' there"));
}

TEST_F(MutateCommand, ReportsWhatTheBudgetLeavesOut) {
  const ProcessResult result = mutate({"q8ta_relu.comp", "--jobs", "1", "--budget", "0.001"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("no fault was tried"));
  EXPECT_THAT(result.out, HasSubstr(" not run"));
  EXPECT_THAT(text_of(out() + "/faults.md"), HasSubstr("the budget was used up"));
}

TEST_F(MutateCommand, SaysThatNoRowUsesAFile) {
  const ProcessResult result = mutate({"copy.comp", "--limit", "1", "--jobs", "1"});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(text_of(out() + "/kill_matrix.csv"),
              HasSubstr("no row that this device can run uses the file"));
}

TEST_F(MutateCommand, NeverWritesOverARun) {
  folder.write("out/faults.jsonl", "anything\n");
  const ProcessResult result = mutate({"q8ta_relu.comp", "--limit", "1"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--resume"));
}

/// They were ignored, and the run went on with what it had been started with.
TEST_F(MutateCommand, AResumedRunTakesNoOtherChoice) {
  ASSERT_EQ(mutate({"q8ta_relu.comp", "--limit", "1", "--jobs", "1", "--least", "0"}).exit_code, 0);
  for (const auto& [option, value] :
       {std::pair("--seed", "1"), std::pair("--limit", "2"), std::pair("--cases", "cases"),
        std::pair("--shard", "1/2"), std::pair("--rows", "3"), std::pair("--out", "elsewhere"),
        std::pair("--since", "HEAD"), std::pair("--shaders", "/tmp"), std::pair("--ops", "/tmp")}) {
    const ProcessResult result = assay({"mutate", "--resume", out(), option, value});
    EXPECT_EQ(result.exit_code, 2) << option;
    EXPECT_THAT(result.err, HasSubstr(std::string("--resume: a run keeps the choice that it was started "
                                                  "with, so ") +
                                      option + " cannot be given"));
  }
  EXPECT_THAT(assay({"mutate", "q8ta_add.comp", "--resume", out()}).err,
              HasSubstr("so shaders cannot be given"));
  EXPECT_THAT(assay({"mutate", "--merge", out(), "--out", folder / "m", "--seed", "1"}).err,
              HasSubstr("--merge: a run keeps the choice"));
}

TEST_F(MutateCommand, NamesTheShaderThatMayBeMeant) {
  const ProcessResult result = mutate({"q8ta_rel.comp", "--list"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("did you mean 'q8ta_relu.comp'?"));
}

TEST_F(MutateCommand, RefusesAWrongListOfEquivalentFaults) {
  folder.write("equivalent.yaml",
               "- fault: 000000000000\n  file: elementwise/q8ta_relu.comp\n  operator: term_dropped\n"
               "  line: 00000000\n  reason: of a line that is gone\n");
  const ProcessResult result =
      mutate({"q8ta_relu.comp", "--limit", "1", "--jobs", "1", "--equivalent", folder / "equivalent.yaml"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("wrong: equivalent fault 000000000000"));
}

}  // namespace
}  // namespace assay::test
