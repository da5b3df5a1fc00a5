#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>

// Expectations of the device that runs the tests, and what a run reports about them.

namespace assay::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A folder of cases (four that pass, one that is MISTRUSTED) with these rules for every device.
struct Desk {
  TemporaryFolder folder;

  explicit Desk(const std::string& rules) {
    folder.write("cases/c.yaml", shuffle_cases);
    folder.write("cases/flat.yaml", mistrusted_cases);
    folder.write("cases/expectations/all.yaml", "device: \"\\\\w\"\nexpect:\n" + rules);
  }
  ProcessResult run(std::vector<std::string> words) const {
    words.insert(words.begin(), {"run", "--out", folder / "out", "--overwrite"});
    return assay(std::move(words));
  }
  std::string cases() const { return folder / "cases"; }
  nlohmann::json report() const {
    return nlohmann::json::parse(read_file(device_folder(folder / "out") / "run.json"));
  }
};

constexpr const char* flat_rule =
    "  - {match: \"*/flat/*\", params: {upscale_factor: 2, shape: [1, 16, 4, 4]}, status: MISTRUSTED,\n"
    "     reason: proves nothing, link: \"https://example.org/7\"}\n";

TEST(Expectations, ARowThatEndsAsExpectedIsFine) {
  const Desk desk(flat_rule);
  const ProcessResult result = desk.run({desk.cases(), "--strict", "--verbose"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("expected (proves nothing, https://example.org/7): MISTRUSTED: "));
  EXPECT_THAT(result.out, Not(HasSubstr("EXPECTATIONS")));
  EXPECT_THAT(result.err, HasSubstr("cases/expectations/all.yaml\n")) << "it is told which rules count";
  EXPECT_EQ(desk.report().at("statuses").at("EXPECTED_FAIL"), 1);
}

TEST(Expectations, AnUnexpectedPassFailsTheRun) {
  const Desk desk(std::string(flat_rule) + "  - {match: \"*1x16x4x4*\", reason: a bug}\n");
  const ProcessResult result = desk.run({desk.cases()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("all.yaml:5 expects FAIL (a bug); remove the rule"));
}

TEST(Expectations, AnExpiredRuleDoesNotCountAndFailsAStrictRun) {
  const Desk desk(std::string(flat_rule) +
                  "  - {match: \"*/small/*\", status: skip, reason: slow, expires: 2020-01-31}\n");
  const ProcessResult result = desk.run({desk.cases()});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("all.yaml:5  */small/*  (slow)\n    it expired after 2020-01-31"));
  EXPECT_EQ(desk.report().at("statuses").at("PASS"), 4);
  EXPECT_EQ(desk.run({desk.cases(), "--strict"}).exit_code, 1);
}

TEST(Expectations, AStaleRuleFailsAStrictRun) {
  const Desk desk(std::string(flat_rule) + "  - {match: \"gone/*\", reason: a bug}\n");
  const ProcessResult result = desk.run({desk.cases()});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("EXPECTATIONS"));
  EXPECT_THAT(result.out, HasSubstr("gone/*  (a bug)\n    it matches no row of this run: remove it"));
  EXPECT_EQ(desk.report().at("rule_notes").at(0).at("state"), "stale");
  EXPECT_EQ(desk.run({desk.cases(), "--strict"}).exit_code, 1);
  EXPECT_EQ(desk.run({desk.cases(), "--strict", "--tier", "smoke"}).exit_code, 1)
      << "it matches no case of any tier";
  const ProcessResult again = assay({"report", device_folder(desk.folder / "out").string()});
  EXPECT_THAT(again.out, HasSubstr("it matches no row of this run")) << "the journal has it too";
}

TEST(Expectations, MayBeKeptOutsideOfThePackage) {
  const Desk desk("  - {match: \"*/flat/*\", status: skip, reason: of the package}\n");
  EXPECT_EQ(desk.run({desk.cases()}).exit_code, 0);
  EXPECT_EQ(desk.report().at("statuses").at("SKIPPED"), 1);
  desk.folder.write("mine/gpu.yaml", "device: \"\\\\w\"\nexpect:\n" + std::string(flat_rule) +
                                         "  - {match: \"gone/*\", reason: a bug}\n");
  const std::string mine = desk.folder / "mine";
  const ProcessResult result = desk.run({"--expectations", mine, desk.cases(), "--strict"});
  EXPECT_EQ(result.exit_code, 1) << "one rule of them is stale";
  EXPECT_THAT(result.err, HasSubstr("expectations: " + mine + "/gpu.yaml\n"));
  EXPECT_THAT(result.out, HasSubstr("mine/gpu.yaml:5  gone/*  (a bug)\n    it matches no row of this run"));
  EXPECT_EQ(desk.report().at("statuses").at("EXPECTED_FAIL"), 1) << "they count before those of the package";
  const ProcessResult one_file =
      desk.run({"--expectations", mine, desk.folder / "cases/flat.yaml", "--strict"});
  EXPECT_EQ(one_file.exit_code, 0) << "the rule may be about cases of other files" << one_file.out;
}

TEST(Expectations, OfARunThatIsResumedMustBeTheSame) {
  const Desk desk(flat_rule);
  desk.folder.write("mine/gpu.yaml", "device: none\nexpect:\n  - {match: \"a/*\", reason: a bug}\n");
  const ProcessResult result = desk.run({"--expectations", desk.folder / "mine", desk.cases()});
  EXPECT_THAT(result.err, HasSubstr("mine/gpu.yaml: 'none' is not in '"))
      << "its device fits none of the run's";
  EXPECT_EQ(assay({"run", "--resume", desk.folder / "out"}).exit_code, 0);
  desk.folder.write("mine/gpu.yaml", "device: none\nexpect:\n  - {match: \"b/*\", reason: a bug}\n");
  const ProcessResult changed = assay({"run", "--resume", desk.folder / "out"});
  EXPECT_EQ(changed.exit_code, 2);
  EXPECT_THAT(changed.err, HasSubstr("the expectations have changed"));
}

TEST(Expectations, ARuleThatIsTooWideSaysToWhatItCanBeNarrowed) {
  const Desk desk("  - {match: \"*\", status: mistrusted, reason: proves nothing}\n");
  const ProcessResult result = desk.run({desk.cases()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("4 of its 5 rows pass, such as "));
  EXPECT_THAT(result.out, HasSubstr("narrow it "));
  EXPECT_EQ(desk.report().at("rule_notes").at(0).at("state"), "wide");
}

TEST(Expectations, ARuleOfRowsThatWereNotSelectedIsNotStale) {
  const Desk desk(std::string(flat_rule) + "  - {match: \"gone/*\", reason: a bug}\n");
  EXPECT_EQ(desk.run({desk.cases(), "--strict", "--filter", "*/small/*"}).exit_code, 0);
  EXPECT_EQ(desk.run({desk.folder / "cases/c.yaml", "--strict"}).exit_code, 0);
  const Desk fine(flat_rule);
  EXPECT_EQ(fine.run({fine.cases(), "--strict", "--tier", "smoke"}).exit_code, 0);
}

}  // namespace
}  // namespace assay::test
