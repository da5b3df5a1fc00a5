#include "harness/cases/expectations.h"

#include "harness/cases/fake_ops_test_support.h"

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

TEST(Expectations, AreThoseOfTheFirstRuleThatMatchesDeviceAndCase) {
  const TemporaryFolder folder;
  const ExpectationsResult result = load(folder, R"(device: "H100|A100"
expect:
  - {match: "op/a/*", status: fail, reason: a bug of the driver}
  - {match: "op/*", status: skip, reason: takes an hour}
)");
  ASSERT_EQ(messages(folder, result.errors), "");
  const std::optional<Expectation> fail = result.expectations.find("NVIDIA H100 80GB HBM3", "op/a/fused");
  ASSERT_TRUE(fail.has_value());
  EXPECT_EQ(fail->kind, Expectation::Kind::Fail);
  EXPECT_EQ(fail->reason, "a bug of the driver");
  EXPECT_EQ(fail->where.line, 3);
  const std::optional<Expectation> skip = result.expectations.find("NVIDIA A100", "op/b/fused");
  ASSERT_TRUE(skip.has_value());
  EXPECT_EQ(skip->kind, Expectation::Kind::Skip);
  EXPECT_FALSE(result.expectations.find("NVIDIA A100", "other/a/fused").has_value());
  EXPECT_FALSE(result.expectations.find("llvmpipe", "op/a/fused").has_value());
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
  EXPECT_TRUE(result.expectations.find("H100", "op/b").has_value());
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

TEST(Expectations, AMissingFileIsAnError) {
  const TemporaryFolder folder;
  const std::filesystem::path files[] = {folder.path() / "nothing.yaml"};
  EXPECT_EQ(messages(folder, load_expectations(files).errors), "nothing.yaml: error: no such file");
}

}  // namespace
}  // namespace assay
