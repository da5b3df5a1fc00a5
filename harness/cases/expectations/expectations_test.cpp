#include "harness/cases/expectations/expectations.h"

#include "harness/cases/tests/case_file_test_support.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::StartsWith;

ExpectationsResult load(const TemporaryFolder& folder, std::string_view text) {
  const std::filesystem::path files[] = {folder.write("gpu.yaml", text)};
  return load_expectations(files);
}

std::string errors_of(std::string_view text) {
  const TemporaryFolder folder;
  return messages(folder, load(folder, text).errors);
}

/// Returns the rules, which must have no errors; `today` is the last day of 2026.
Expectations good(const TemporaryFolder& folder, std::string_view rules) {
  const std::filesystem::path files[] = {
      folder.write("gpu.yaml", "device: H100\nexpect:\n" + std::string(rules))};
  ExpectationsResult result = load_expectations(files, *parse_date("2026-12-31"));
  EXPECT_EQ(messages(folder, result.errors), "");
  return std::move(result.expectations);
}

/// Returns the reason of the rule that is found for a row on an H100; empty if there is none.
std::string found(const Expectations& expectations, const RowWords& row) {
  const Expectation* rule = expectations.find("H100", row);
  return rule != nullptr ? rule->reason : "";
}

TEST(Expectations, AreThoseOfTheFirstRuleThatMatchesDeviceAndRow) {
  const TemporaryFolder folder;
  const ExpectationsResult result = load(folder, R"(device: "H100|A100"
expect:
  - {match: "op/a/*", status: fail, reason: a bug of the driver}
  - {match: "op/*", status: skip, reason: takes an hour}
)");
  ASSERT_EQ(messages(folder, result.errors), "");
  const Expectation* fail = result.expectations.find("NVIDIA H100 80GB HBM3", {.id = "op/a/fused"});
  ASSERT_NE(fail, nullptr);
  EXPECT_EQ(fail->kind, Expectation::Kind::Fail);
  EXPECT_EQ(fail->reason, "a bug of the driver");
  EXPECT_EQ(fail->where.line, 3);
  const Expectation* skip = result.expectations.find("NVIDIA A100", {.id = "op/b/fused"});
  ASSERT_NE(skip, nullptr);
  EXPECT_EQ(skip->kind, Expectation::Kind::Skip);
  EXPECT_EQ(result.expectations.find("NVIDIA A100", {.id = "other/a/fused"}), nullptr);
  EXPECT_EQ(result.expectations.find("llvmpipe", {.id = "op/a/fused"}), nullptr);
  EXPECT_EQ(result.expectations.of_device("H100").size(), 2u);
  EXPECT_TRUE(result.expectations.of_device("llvmpipe").empty());
}

TEST(Expectations, MatchTheIdOfARowOrOfItsCase) {
  const TemporaryFolder folder;
  const Expectations rules =
      good(folder, "  - {match: \"*/gemv\", reason: all}\n  - {match: \"*/cold\", reason: cold}\n");
  EXPECT_EQ(found(rules, {.id = "op/gemv/cold", .case_id = "op/gemv"}), "all");
  EXPECT_EQ(found(rules, {.id = "op/gemm/cold", .case_id = "op/gemm"}), "cold");
  EXPECT_EQ(found(rules, {.id = "op/gemm", .case_id = "op/gemm"}), "");
}

TEST(Expectations, MatchParametersInAnyOfTheirSpellings) {
  const TemporaryFolder folder;
  const Expectations rules = good(folder, R"(
  - {match: "*", params: {n: 2, shape: [1, 16, 4]}, reason: list}
  - {match: "*", params: {shape: 2x3}, reason: text}
  - {match: "*", params: {x: {scale: 0.50, zero_point: -3}}, reason: qparams}
  - {match: "*", params: {eps: 0.10, on: true}, reason: number}
)");
  EXPECT_EQ(found(rules, {.id = "a", .params = "m=1 n=2 shape=1x16x4"}), "list");
  EXPECT_EQ(found(rules, {.id = "a", .params = "m=1 n=21 shape=1x16x4"}), "");
  EXPECT_EQ(found(rules, {.id = "a", .params = "n=2"}), "");
  EXPECT_EQ(found(rules, {.id = "a", .params = "nn=2 shape=2x3"}), "text");
  EXPECT_EQ(found(rules, {.id = "a", .params = "x=0.5:-3"}), "qparams");
  EXPECT_EQ(found(rules, {.id = "a", .params = "eps=0.1 on=true"}), "number");
  EXPECT_EQ(found(rules, {.id = "a"}), "");
}

TEST(Expectations, MatchModeAndImpl) {
  const TemporaryFolder folder;
  const Expectations rules = good(folder, "  - {match: \"*\", mode: perf, impl: \"tile_*\", reason: slow}\n");
  EXPECT_EQ(found(rules, {.id = "a", .mode = "perf", .impl = "tile_4"}), "slow");
  EXPECT_EQ(found(rules, {.id = "a", .mode = "accu", .impl = "tile_4"}), "");
  EXPECT_EQ(found(rules, {.id = "a", .mode = "perf", .impl = "fused"}), "");
}

TEST(Expectations, ExpectFailUnlessTheySayOtherwise) {
  const TemporaryFolder folder;
  const Expectations rules = good(folder, R"(
  - {match: a, reason: r}
  - {match: b, status: [CRASH, device_lost], reason: r, link: "https://example.org/7"}
)");
  const Expectation* plain = rules.find("H100", {.id = "a"});
  ASSERT_NE(plain, nullptr);
  EXPECT_THAT(plain->statuses, ElementsAre(Status::Fail));
  EXPECT_EQ(plain->why(), "r");
  const Expectation* list = rules.find("H100", {.id = "b"});
  ASSERT_NE(list, nullptr);
  EXPECT_THAT(list->statuses, ElementsAre(Status::Crash, Status::DeviceLost));
  EXPECT_FALSE(list->expects(Status::Fail, "wrong_value"));
  EXPECT_EQ(list->why(), "r, https://example.org/7");
}

TEST(Expectations, MayExpectOneKindOfFailure) {
  const TemporaryFolder folder;
  const Expectations rules = good(folder, R"(
  - {match: a, metric: wrong_value, reason: r}
  - {match: b, status: [fail, crash], metric: [no_answer, later_run], reason: r}
)");
  const Expectation* one = rules.find("H100", {.id = "a"});
  ASSERT_NE(one, nullptr);
  EXPECT_TRUE(one->expects(Status::Fail, "wrong_value"));
  EXPECT_FALSE(one->expects(Status::Fail, no_answer));
  const Expectation* list = rules.find("H100", {.id = "b"});
  ASSERT_NE(list, nullptr);
  EXPECT_TRUE(list->expects(Status::Fail, later_run));
  EXPECT_FALSE(list->expects(Status::Fail, "wrong_value"));
  EXPECT_TRUE(list->expects(Status::Crash, "")) << "a crash has no metric";
}

TEST(Expectations, CountToTheEndOfTheirLastDay) {
  const TemporaryFolder folder;
  const Expectations rules = good(folder, R"(
  - {match: "*", reason: over, expires: 2026-12-30}
  - {match: "a", reason: last day, expires: 2026-12-31}
  - {match: "b", status: skip, reason: tomorrow, expires: 2027-01-01}
)");
  EXPECT_EQ(found(rules, {.id = "a"}), "last day");
  EXPECT_EQ(found(rules, {.id = "b"}), "tomorrow");
  EXPECT_EQ(found(rules, {.id = "c"}), "");
  EXPECT_TRUE(rules.is_expired(*rules.of_device("H100").front()));
}

TEST(Dates, AreReadStrictly) {
  EXPECT_EQ(date_text(*parse_date("2024-02-29")), "2024-02-29");
  for (const char* text : {"2026-02-29", "2026-13-01", "2026-00-01", "2026-1-1", "26-01-01", "2026/01/01",
                           "2026-01-32", "-026-01-01", "2026-01-+1", "2026-01-01Z", ""})
    EXPECT_FALSE(parse_date(text).has_value()) << text;
}

TEST(Expectations, ABadRuleHidesNoOther) {
  const TemporaryFolder folder;
  const ExpectationsResult result = load(folder, R"(device: H100
expect:
  - {match: "op/a", status: fial, reason: a bug}
  - {match: "op/b", status: skip, reason: slow}
)");
  EXPECT_EQ(messages(folder, result.errors),
            "gpu.yaml:3:21: error: unknown status 'fial'\n"
            "      - {match: \"op/a\", status: fial, reason: a bug}\n"
            "                        ^\n"
            "    did you mean 'fail'?");
  EXPECT_NE(result.expectations.find("H100", {.id = "op/b"}), nullptr);
}

TEST(Expectations, NeedAReason) {
  EXPECT_EQ(errors_of("device: H100\nexpect:\n  - {match: op, status: fail}\n"),
            "gpu.yaml:3:5: error: 'reason' is missing here\n"
            "      - {match: op, status: fail}\n"
            "        ^");
  EXPECT_EQ(errors_of("device: H100\nexpect:\n  - {match: op, status: fail, reason: \"\"}\n"),
            "gpu.yaml:3:31: error: 'reason' is empty\n"
            "      - {match: op, status: fail, reason: \"\"}\n"
            "                                  ^");
}

TEST(Expectations, AreStrictInWhatARuleSays) {
  const auto error_of_rule = [](const std::string& rest) {
    const std::string text = errors_of("device: H100\nexpect:\n  - {match: op, reason: r, " + rest + "}\n");
    const std::size_t first = text.find("error: ") + 7;
    return text.substr(first, text.find('\n') - first);
  };
  EXPECT_EQ(error_of_rule("status: [fail, skip]"),
            "'skip' cannot be combined with other statuses: a skipped row has none to expect");
  EXPECT_EQ(error_of_rule("status: []"), "'status' is an empty list");
  EXPECT_EQ(error_of_rule("status: [[fail]]"), "'status' must be text, got a list");
  EXPECT_EQ(
      error_of_rule("status: MISSING"),
      "unknown status 'missing'; known: skip, fail, crash, timeout, out_of_memory, device_lost, suspect, "
      "mistrusted, flaky");
  EXPECT_THAT(error_of_rule("metric: wrong_valu"), StartsWith("unknown metric 'wrong_valu'"));
  EXPECT_EQ(error_of_rule("metric: []"), "'metric' is an empty list");
  EXPECT_EQ(error_of_rule("status: crash, metric: wrong_value"),
            "'metric' says how a row fails, so 'status' must have fail or mistrusted");
  EXPECT_EQ(error_of_rule("params: {}"), "'params' must be a map of parameters and their values, got a map");
  EXPECT_EQ(error_of_rule("params: {n: }"), "'n' has no value");
  EXPECT_EQ(error_of_rule("params: {n: [1, a]}"), "'n' must be a 64-bit decimal integer, got the text 'a'");
  EXPECT_EQ(error_of_rule("params: {x: {scale: 1}}"), "'zero_point' is missing here");
  EXPECT_EQ(error_of_rule("params: {x: {scale: 1, zero_point: 4294967296}}"),
            "'zero_point' must be a 32-bit integer, got the text '4294967296'");
  EXPECT_EQ(error_of_rule("mode: both"), "unknown mode 'both'; known: accu, perf");
  EXPECT_EQ(error_of_rule("impl: \"\""), "'impl' is empty");
  EXPECT_EQ(error_of_rule("link: [a]"), "'link' must be text, got a list");
  EXPECT_EQ(error_of_rule("expires: 2026-02-30"), "'expires' must be a date YYYY-MM-DD, got '2026-02-30'");
  EXPECT_EQ(errors_of("device: H100\nexpect:\n  - {match: op, reason: r, expire: 2026-01-01}\n"),
            "gpu.yaml:3:28: error: unknown key 'expire'\n"
            "      - {match: op, reason: r, expire: 2026-01-01}\n"
            "                               ^\n"
            "    did you mean 'expires'?");
}

TEST(Expectations, AreStrict) {
  EXPECT_EQ(errors_of(""),
            "gpu.yaml:1:1: error: an expectation file is a map with a 'device' and a list 'expect'");
  EXPECT_EQ(errors_of("device: H100\nexpects: []\n"),
            "gpu.yaml:2:1: error: unknown key 'expects'\n"
            "    expects: []\n"
            "    ^\n"
            "    did you mean 'expect'?");
  EXPECT_EQ(errors_of("device: H100\n"),
            "gpu.yaml:1:1: error: 'expect' is missing here\n"
            "    device: H100\n"
            "    ^");
  EXPECT_EQ(errors_of("device: H100\ndevice: A100\nexpect: []\n"),
            "gpu.yaml:2:1: error: duplicate key 'device', already given at 1:1\n"
            "    device: A100\n"
            "    ^");
  EXPECT_EQ(errors_of("device: H100\nexpect: {match: op}\n"),
            "gpu.yaml:2:1: error: 'expect' must be a list of rules, got a map\n"
            "    expect: {match: op}\n"
            "    ^");
  EXPECT_EQ(errors_of("device: H100\nexpect:\n  - {match: op, match: x, status: skip, reason: r}\n"),
            "gpu.yaml:3:17: error: duplicate key 'match', already given at 3:6\n"
            "      - {match: op, match: x, status: skip, reason: r}\n"
            "                    ^");
  EXPECT_THAT(errors_of("device: [H100\nexpect: []\n"), StartsWith("gpu.yaml:2:7: error: YAML syntax: "));
}

TEST(Expectations, RefuseAPatternThatIsNoRegularExpression) {
  EXPECT_THAT(errors_of("device: \"(H100\"\nexpect: []\n"),
              StartsWith("gpu.yaml:1:1: error: '(H100' is not a regular expression: "));
  EXPECT_THAT(errors_of("device: " + std::string(300, '(') + "\nexpect: []\n"),
              StartsWith("gpu.yaml:1:1: error: 'device' has more than 200 characters\n"));
}

TEST(Expectations, AreFoundBelowFoldersAndBesideOrAboveFiles) {
  const TemporaryFolder folder;
  const std::string empty = "device: H100\nexpect: []\n";
  folder.write("cases/expectations/b.yaml", empty);
  folder.write("cases/expectations/a.yaml", empty);
  folder.write("cases/models/net.yaml", "op: x\n");
  folder.write("cases/models/deep/expectations/c.yaml", empty);
  const auto found = [&](const std::filesystem::path& path) {
    std::vector<std::string> names;
    const std::filesystem::path paths[] = {folder.path() / path, folder.path() / path};
    for (const std::filesystem::path& file : find_expectations(paths))
      names.push_back(file.filename().string());
    return names;
  };
  EXPECT_THAT(found("cases"), ElementsAre("a.yaml", "b.yaml", "c.yaml"));
  EXPECT_THAT(found("cases/models/net.yaml"), ElementsAre("a.yaml", "b.yaml"));
  EXPECT_THAT(found("cases/models"), ElementsAre("a.yaml", "b.yaml", "c.yaml"));
}

TEST(Expectations, KnowWhetherAllCasesOfTheirFolderAreLoaded) {
  const TemporaryFolder folder;
  const std::filesystem::path rules = folder.write("cases/expectations/gpu.yaml", "");
  const std::vector<std::filesystem::path> one = {folder.write("cases/a.yaml", "")};
  EXPECT_TRUE(has_all_cases_of(rules, one));
  const std::vector<std::filesystem::path> both = {one.front(), folder.write("cases/models/b.yaml", "")};
  EXPECT_FALSE(has_all_cases_of(rules, one));
  EXPECT_TRUE(has_all_cases_of(rules, both));
}

TEST(Expectations, ALinkToNothingIsAnError) {
  const TemporaryFolder folder;
  folder.write("cases/a.yaml", "");
  std::filesystem::create_directory(folder / "cases/expectations");
  std::filesystem::create_symlink("nowhere", folder / "cases/expectations/gpu.yaml");
  const std::filesystem::path cases[] = {folder / "cases"};
  const std::vector<std::filesystem::path> files = find_expectations(cases);
  EXPECT_EQ(messages(folder, load_expectations(files).errors),
            "cases/expectations/gpu.yaml: error: it is a link to a file that does not exist");
}

TEST(Expectations, AMissingFileIsAnError) {
  const TemporaryFolder folder;
  const std::filesystem::path files[] = {folder.path() / "nothing.yaml"};
  EXPECT_EQ(messages(folder, load_expectations(files).errors), "nothing.yaml: error: no such file");
}

}  // namespace
}  // namespace assay
