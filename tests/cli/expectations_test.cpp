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

TEST(Expectations, ARuleOfRowsThatWereNotSelectedIsNotStale) {
  const Desk desk(std::string(flat_rule) + "  - {match: \"gone/*\", reason: a bug}\n");
  EXPECT_EQ(desk.run({desk.cases(), "--strict", "--filter", "*/small/*"}).exit_code, 0);
  EXPECT_EQ(desk.run({desk.folder / "cases/c.yaml", "--strict"}).exit_code, 0);
  const Desk fine(flat_rule);
  EXPECT_EQ(fine.run({fine.cases(), "--strict", "--tier", "smoke"}).exit_code, 0);
}

}  // namespace
}  // namespace assay::test
