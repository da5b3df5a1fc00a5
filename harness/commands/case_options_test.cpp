#include "harness/commands/case_options.h"

#include "tests/support/error_text.h"
#include "tests/support/small_op.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// What is said when these options select none of two cases of the op `flip`, whose impl is `plain`.
std::string refusal(const CaseOptions& options) {
  const Op op = test::flip_op();
  std::vector<Case> cases{test::make_case(op, test::shape_params({4}), "small"),
                          test::make_case(op, test::shape_params({8}), "large")};
  for (Case& test_case : cases) test_case.mode = Mode::Accu;
  return test::error_of([&] { throw_nothing_selected(options, cases); });
}

TEST(CasePaths, AreOutsideOfWhatIsNotTrusted) {
  const test::TemporaryFolder folder;
  const std::string inside = folder.write("mine/cases/c.yaml", "op: flip\n");
  const std::string outside = folder.write("cases/c.yaml", "op: flip\n");
  const CaseOptions mine{.files = {inside}};
  EXPECT_EQ(mine.paths().size(), 1U);
  EXPECT_THAT(test::error_of([&] { mine.paths(folder / "mine"); }),
              HasSubstr("which does not choose what it is judged by"));
  EXPECT_EQ(CaseOptions{.files = {outside}}.paths(folder / "mine").size(), 1U);
  // Tests run in the root of the source tree, whose folder cases/ would be found first.
  EXPECT_EQ(CaseOptions{}.paths().front(), "cases");
  EXPECT_THAT(test::error_of([&] {
                if (CaseOptions{}.paths(".").front() == "cases") throw Error("the submission's cases");
              }),
              Not(HasSubstr("the submission's")));
}

TEST(NothingSelected, NamesTheIdsNearestToAFilter) {
  EXPECT_THAT(refusal({.filter = "flip/smal/*"}),
              HasSubstr("none of 2 is selected by --filter 'flip/smal/*'; the nearest: flip/small/plain; "));
  EXPECT_THAT(refusal({.filter = "large"}),
              HasSubstr("; '*large*' would match 1, such as flip/large/plain; "));
}

TEST(NothingSelected, SaysWhatMayBeMeantByAnOpOrAnImpl) {
  EXPECT_THAT(refusal({.impls = {"plian"}}), HasSubstr("; did you mean --impl 'plain'?; "));
  EXPECT_THAT(refusal({.ops = {"filp"}}), HasSubstr("; did you mean --op 'flip'?; "));
  EXPECT_THAT(refusal({.ops = {"quantize"}}), HasSubstr("; known for --op are: flip; "));
}

TEST(NothingSelected, BlamesOnlyWhatSelectsNothingAlone) {
  CaseOptions options{.filter = "flip/*"};
  options.impls = {"*"};
  options.mode = "perf";
  options.tiers = {"ci"};
  EXPECT_THAT(refusal(options), AllOf(HasSubstr("; no case has that mode; "), Not(HasSubstr("nearest")),
                                      Not(HasSubstr("did you mean")), Not(HasSubstr("has that tier"))));
}

TEST(ModeOption, OfBothNarrowsNothing) {
  for (const char* mode : {"", "both"}) {
    CaseOptions options;
    options.mode = mode;
    EXPECT_EQ(options.selection().mode, std::nullopt) << mode;
    EXPECT_FALSE(options.is_narrowed()) << mode;
  }
  CaseOptions options;
  options.mode = "perf";
  EXPECT_EQ(options.selection().mode, Mode::Perf);
  EXPECT_TRUE(options.is_narrowed());
}

}  // namespace
}  // namespace assay::app
