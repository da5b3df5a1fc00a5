#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

// Command lines that are refused, and what is said about them.

namespace assay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(UnknownCommand, IsNamedWithTheNearest) {
  for (const auto& [word, meant] : {std::pair("rnu", "run"), std::pair("complare", "compare"),
                                    std::pair("device", "devices"), std::pair("new_op", "new-op")}) {
    const ProcessResult result = assay({word, "--filter", "x"});
    EXPECT_EQ(result.exit_code, 2) << word;
    EXPECT_EQ(result.err, fmt::format("assay: unknown command '{}'; did you mean '{}'?\n", word, meant));
    EXPECT_EQ(result.out, "");
  }
}

TEST(UnknownCommand, IsNamedWithAllWhereNoneIsNear) {
  const ProcessResult result = assay({"benchmark"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(
      result.err,
      AllOf(HasSubstr("unknown command 'benchmark'; the commands are: run, judge, fuzz, mutate, list, "),
            HasSubstr(", verdict, prune\n")));
}

TEST(UnknownCommand, AHostileWordIsPrintedSafely) {
  const std::string word = "\x1b[31m" + std::string(5000, 'x');
  const ProcessResult result = assay({word});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("unknown command"), Not(HasSubstr("\x1b"))));
  EXPECT_LT(result.err.size(), 400U);
}

struct WrongNumber {
  const char* option;
  const char* value;
  const char* message;  ///< after "--option: "
};

TEST(Numbers, ThatMakeNoSenseAreRefusedWithTheirRange) {
  constexpr const char* seconds = "is not a number above 0 and at most 604800\n";
  constexpr const char* seed = "is not a whole number from 0 to 2^64 - 1\n";
  for (const auto& [option, value, message] : {
           WrongNumber{"--budget", "nan", seconds},
           WrongNumber{"--budget", "inf", seconds},
           WrongNumber{"--budget", "0", seconds},
           WrongNumber{"--budget", "1e999", seconds},
           WrongNumber{"--program-limit", "-nan", seconds},
           WrongNumber{"--program-limit", "1e9", seconds},
           WrongNumber{"--hang-limit", "-5", seconds},
           WrongNumber{"--hang-limit", "5s", seconds},
           WrongNumber{"--inject-slowdown", "nan", "is not a number from 0 to 1000\n"},
           WrongNumber{"--inject-slowdown", "-1", "is not a number from 0 to 1000\n"},
           WrongNumber{"--seed", "-1", seed},
           WrongNumber{"--seed", "18446744073709551616", seed},
           WrongNumber{"--secret-seed", "1.5", seed},
           WrongNumber{"--max-failures", "0", "is not a whole number from 1 to 1000000000\n"},
           WrongNumber{"--max-failures", "9999999999", "is not a whole number from 1 to 1000000000\n"},
           WrongNumber{"--jobs", "1000000", "is not a whole number from 1 to 1024\n"},
           WrongNumber{"--workers", "65", "is not a whole number from 1 to 64\n"},
           WrongNumber{"--prepare", "-1", "is not a whole number from 0 to 1024\n"},
       }) {
    const ProcessResult result = assay({"run", std::string(option) + "=" + value});
    EXPECT_EQ(result.exit_code, 2) << option << ' ' << value;
    EXPECT_THAT(result.err, HasSubstr(fmt::format("{}: '{}' {}", option, value, message)));
  }
}

TEST(Numbers, ANegativeNumberMayFollowItsOptionAsAWord) {
  const ProcessResult result = assay({"run", "--seed", "-1"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--seed: '-1' is not a whole number from 0 to 2^64 - 1"));
}

TEST(Numbers, OfOtherCommandsAreCheckedToo) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"judge", "x", "--budget", "nan"},
           {"judge", "x", "--time-limit", "inf"},
           {"judge", "x", "--memory-limit", "nan"},
           {"judge", "x", "--secret-seed", "0"},
           {"judge", "x", "--rows", "0"},
           {"list", "--seed", "99999999999999999999"},
           {"compare", "a", "b", "--min-effect", "nan"},
           {"show", "a", "--worst", "0"},
           {"prune", "a", "--keep", "0"},
           {"prune", "a", "--older-than", "inf"},
       }) {
    const ProcessResult result = assay(words);
    EXPECT_EQ(result.exit_code, 2) << words[0] << ' ' << words.back();
    EXPECT_THAT(result.err, AllOf(HasSubstr(fmt::format("'{}' is not a ", words.back())),
                                  HasSubstr(words[words.size() - 2] + ": ")));
  }
}

TEST(Mode, BothSelectsWhatNoModeDoes) {
  const TemporaryFolder folder;
  const std::string file = folder.write("c.yaml", both_cases);
  const std::string all = assay({"list", file, "--long"}).out;
  ASSERT_NE(all, "");
  EXPECT_EQ(assay({"list", file, "--long", "--mode", "both"}).out, all);
  const ProcessResult wrong = assay({"list", file, "--mode", "all"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("accu"), HasSubstr("perf"), HasSubstr("both")));
}

TEST(ResumeOptions, AreThoseThatTheHelpNames) {
  const std::string allowed =
      "only --ops, --shaders, --versus-shaders, --dump, --ceiling-store, --answer-cache, --no-isolation, "
      "--workers, --worker-command, --max-failures, --github-summary and --verbose ";
  EXPECT_THAT(assay({"run", "--help"}).out, HasSubstr(allowed + "may be given"));
  for (const char* option : {"--overwrite", "--seed=7", "--benchmark", "--mode=accu"}) {
    const ProcessResult result = assay({"run", "--resume", "nowhere", option});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, AllOf(HasSubstr("--resume: a run is resumed with the options that it was started "
                                            "with, so " +
                                            std::string(option).substr(0, std::string(option).find('='))),
                                  HasSubstr(allowed + "can")));
  }
  const ProcessResult file = assay({"run", "--resume", "nowhere", "cases"});
  EXPECT_THAT(file.err, HasSubstr("so files cannot be given"));
  const ProcessResult fine =
      assay({"run", "--resume", "nowhere", "-v", "--workers", "2", "--max-failures", "3"});
  EXPECT_EQ(fine.exit_code, 2);
  EXPECT_THAT(fine.err, Not(HasSubstr("cannot be given"))) << "only the folder is missing";
}

}  // namespace
}  // namespace assay::test
