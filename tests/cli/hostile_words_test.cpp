#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Names, arguments and files whose words a terminal would obey, or that are larger than anybody writes them.

namespace assay::test {
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

}  // namespace
}  // namespace assay::test
