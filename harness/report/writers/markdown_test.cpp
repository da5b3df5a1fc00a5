#include "harness/report/writers/markdown.h"

#include "harness/base/error.h"
#include "tests/support/records.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace assay {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(MarkdownAligned, LinesColumnsUp) {
  EXPECT_EQ(markdown_aligned({{"case", "us"}, {"a", "12.5"}, {"long é"}}, {false, true}),
            "| case   |   us |\n"
            "| ------ | ---: |\n"
            "| a      | 12.5 |\n"
            "| long é |      |\n");
  EXPECT_EQ(markdown_aligned({{"a", "b"}}, {false, true}),
            "| a   |   b |\n"
            "| --- | --: |\n");
}

TEST(MarkdownCell, HoldsNoMarkup) {
  EXPECT_EQ(markdown_cell("a|b\\c `d` *e* <f> [g]\nh"), "a\\|b\\\\c \\`d\\` \\*e\\* \\<f> \\[g] h");
  EXPECT_EQ(markdown_cell("q8ta_pixel_shuffle 2.5"), "q8ta_pixel_shuffle 2.5");
  EXPECT_EQ(markdown_cell("\x1b[1m"), "\\\\x1b\\[1m");
}

TEST(MarkdownCode, IsOneCodeSpan) {
  EXPECT_EQ(markdown_code("op/a_b/*"), "`op/a_b/*`");
  EXPECT_EQ(markdown_code("a|b`c"), "`a\\|b'c`");
  EXPECT_EQ(markdown_code(""), "");
}

std::string markdown_of(const std::vector<Record>& records) {
  return github_markdown({.title = "assay run", .devices = {summary_device(test::report_of(records))}});
}

TEST(GithubSummary, HasAHeadingTheStatusesAndTheFailures) {
  EXPECT_EQ(markdown_of({test::passed("a"), test::failed("b"),
                         test::without_answer("m", Status::Missing, "the device was given up")}),
            "## assay run\n"
            "\n"
            "1 fine, **1 failed**, **1 lost**\n"
            "\n"
            "| device                | PASS | FAIL | MISSING |\n"
            "| --------------------- | ---: | ---: | ------: |\n"
            "| Acme GPU 9, Acme 12.3 |    1 |    1 |       1 |\n"
            "\n"
            "### Acme GPU 9, Acme 12.3\n"
            "\n"
            "| status | row | why | again |\n"
            "|---|---|---|---|\n"
            "| FAIL | `shuffle/b/1x16x4x8/4W4C.4W4C/fused` (accu) | 1 of 2 outputs is wrong | "
            "`assay run --filter shuffle/b/1x16x4x8/4W4C.4W4C/fused` |\n"
            "| MISSING | `shuffle/m/1x16x4x8/4W4C.4W4C/fused` (accu) | the device was given up |  |\n");
}

TEST(GithubSummary, OfWhatIsFineHasNoMoreThanTheTable) {
  const std::string text = markdown_of({test::passed("a")});
  EXPECT_THAT(text, HasSubstr("1 fine\n"));
  EXPECT_THAT(text, Not(HasSubstr("###")));
}

TEST(GithubSummary, SaysThatARunDidNotFinish) {
  RunReport report = test::report_of({test::passed("a")});
  report.complete = false;
  EXPECT_THAT(github_markdown({.title = "assay run", .devices = {summary_device(report)}}),
              HasSubstr("\n- The run did not finish.\n"));
}

TEST(GithubSummary, EndsALongListWithItsCount) {
  std::vector<Record> records;
  for (int i = 0; i < 57; ++i) records.push_back(test::failed("f" + std::to_string(i)));
  const std::string text = markdown_of(records);
  EXPECT_THAT(text, HasSubstr("shuffle/f49/"));
  EXPECT_THAT(text, Not(HasSubstr("shuffle/f50/")));
  EXPECT_THAT(text, EndsWith("\nand 7 more\n"));
}

TEST(GithubSummary, EscapesWhatIsMarkup) {
  Record odd = test::failed("odd");
  odd.reason = "a|b `c` <img src=x> *d*\r\nnext line";
  odd.info.id = "x|y`z";
  odd.repro = "assay run --filter 'a|b`c'";
  const std::string text = markdown_of({odd});
  EXPECT_THAT(text, HasSubstr("| a\\|b \\`c\\` \\<img src=x> \\*d\\*"));
  EXPECT_THAT(text, HasSubstr("`x\\|y'z` (accu)"));
  EXPECT_THAT(text, Not(HasSubstr("next line")));
  Record nasty = test::failed("nasty");
  nasty.reason = nasty.info.id = nasty.repro = test::nasty;
  EXPECT_EQ(std::ranges::count(markdown_of({nasty}), '\n'),
            std::ranges::count(markdown_of({test::failed("a")}), '\n'))
      << "nothing breaks a line of the table";
}

TEST(GithubSummary, IsCutWithACountOfWhatIsLeftOut) {
  GithubSummary summary{.title = "assay run", .answer = "1 fine"};
  for (int d = 0; d < 30; ++d) {
    SummaryDevice device{.title = "GPU " + std::to_string(d)};
    device.failures.assign(40, {.id = std::string(1000, 'x'), .word = "FAIL"});
    summary.devices.push_back(device);
  }
  const std::string text = github_markdown(summary);
  EXPECT_LE(text.size(), github_summary_limit);
  EXPECT_GT(text.size(), github_summary_limit - 2000);
  EXPECT_THAT(text.substr(text.size() - 300), HasSubstr("\nCut at GitHub's limit: at least "));
  EXPECT_EQ(github_markdown(summary, 10), "");
}

TEST(GithubSummary, IsAppendedToWhatOtherStepsWrote) {
  const test::TemporaryFolder folder;
  const auto file = folder.write("summary.md", "before\n");
  const GithubSummary summary{.title = "assay run", .answer = "1 fine"};
  append_github_summary(file, summary);
  append_github_summary(file, summary);
  EXPECT_EQ(folder.read("summary.md"), "before\n" + github_markdown(summary) + github_markdown(summary));
  append_github_summary(folder / "new.md", summary);
  EXPECT_THAT(folder.read("new.md"), StartsWith("## assay run\n"));
  EXPECT_NO_THROW(append_github_summary("", summary));
}

TEST(GithubSummary, LeavesTheFileWithinTheLimit) {
  const test::TemporaryFolder folder;
  const auto file = folder.write("summary.md", std::string(github_summary_limit - 10, 'x'));
  append_github_summary(file, {.title = "assay run", .answer = "1 fine"});
  EXPECT_EQ(std::filesystem::file_size(file), github_summary_limit - 10);
}

TEST(GithubSummary, SaysWhichFileCannotBeWritten) {
  try {
    append_github_summary("/no/such/folder/summary.md", {});
    FAIL() << "nothing was said";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::Infrastructure);
    EXPECT_THAT(error.what(), HasSubstr("/no/such/folder/summary.md"));
  }
}

}  // namespace

}  // namespace assay
