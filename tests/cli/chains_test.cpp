#include "tests/support/assay_binary.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Two clamps of int8 values, which enter and leave in the forms of the case.
const std::string clamps = R"(chain: clamps
tensors: {x: {dtype: i8, shape: [1, 4, 2, 4], qparams: {scale: 0.05, zero_point: 3}}}
nodes:
  - {name: first, op: q8ta_relu, with: {y: {scale: 0.05, zero_point: 3}}, inputs: {x: x}, outputs: {y: a}}
  - {name: second, op: q8ta_relu, with: {y: {scale: 0.05, zero_point: 3}}, inputs: {x: a}, outputs: {y: b}}
cases:
  - {name: one, impl: {each: [optimal, fastest]}, forms: {x: buffer/4C1W, b: buffer/4C1W}}
  - {name: two, impl: fastest, forms: {x: buffer/4C1W, b: buffer/4C1W}, seed: 2}
)";

class ChainRuns : public ::testing::Test {
 protected:
  ProcessResult run(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> command{"run", file_, "--out", folder_ / out};
    command.insert(command.end(), more.begin(), more.end());
    return assay(command);
  }
  /// Times nodes that suffice to plan by time.
  ProcessResult run_times(const std::string& out, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> options{"--nodes",    "--mode", "perf",     "--budget",          "0.01",
                                     "--ceilings", "none",   "--filter", "*first/4C1W.4C1W/*"};
    options.insert(options.end(), more.begin(), more.end());
    return run(out, options);
  }
  std::string path(const std::string& name) const { return folder_ / name; }

 private:
  TemporaryFolder folder_;
  std::string file_ = folder_.write("clamps.yaml", clamps);
};

TEST_F(ChainRuns, ArePlannedByTheTimesOfTheirNodes) {
  const ProcessResult untimed = run("untimed", {});
  EXPECT_EQ(untimed.exit_code, 0) << untimed.err;
  EXPECT_THAT(untimed.out, HasSubstr("SKIPPED             2"));
  EXPECT_THAT(untimed.out, HasSubstr("--nodes --mode perf --out times"));
  const ProcessResult nodes = run_times("times");
  ASSERT_EQ(nodes.exit_code, 0) << nodes.err;
  const ProcessResult fastest = run("fastest", {"--times", path("times")});
  EXPECT_EQ(fastest.exit_code, 0) << fastest.err << fastest.out;
  EXPECT_THAT(fastest.out, HasSubstr("PASS                3"));
  const ProcessResult shown = assay({"show", path("fastest"), "*one*fastest"});
  EXPECT_THAT(shown.out, HasSubstr("first (q8ta_relu/fused): x as buffer/4C1W -> a as buffer/4C1W"));
  EXPECT_THAT(shown.out, HasSubstr("times from      run 2"));
  const ProcessResult graph = assay({"show", path("fastest"), "*one*fastest", "--dot"});
  EXPECT_THAT(graph.out, HasSubstr("step0 -> step1 [label=\"a as buffer/4C1W\"]"));
  EXPECT_THAT(graph.out, Not(HasSubstr("PASS")));
}

TEST_F(ChainRuns, DoNotTakeTheNewestRunOfTheirOwnFolder) {
  ASSERT_EQ(run_times("out").exit_code, 0);
  const ProcessResult newest = run("out", {"--overwrite", "--times", path("out")});
  EXPECT_EQ(newest.exit_code, 2);
  EXPECT_THAT(newest.err, HasSubstr("which this run is going to be; name the run with the times: --times '"));
  const std::string named = newest.err.substr(newest.err.rfind("--times '") + 9);
  const ProcessResult itself = run("out", {"--overwrite", "--times", named.substr(0, named.find('\''))});
  EXPECT_EQ(itself.exit_code, 0) << itself.err;
}

TEST_F(ChainRuns, AreResumedAndMergedWithTheSameTimesOnly) {
  ASSERT_EQ(run_times("times").exit_code, 0);
  const std::vector<std::string> by_time{"--times", path("times"), "--mode", "accu"};
  const auto part = [&](const std::string& one) {
    std::vector<std::string> options{"--shard", one + "/2"};
    options.insert(options.end(), by_time.begin(), by_time.end());
    return options;
  };
  ASSERT_EQ(run("whole", by_time).exit_code, 0);
  EXPECT_EQ(assay({"run", "--resume", path("whole")}).exit_code, 0);
  ASSERT_EQ(run("first", part("1")).exit_code, 0);
  ASSERT_EQ(run("second", part("2")).exit_code, 0);
  EXPECT_EQ(assay({"merge", path("merged"), path("first"), path("second")}).exit_code, 0);

  ASSERT_EQ(run_times("times", {"--overwrite"}).exit_code, 0);
  const ProcessResult resumed = assay({"run", "--resume", path("whole")});
  EXPECT_EQ(resumed.exit_code, 2);
  EXPECT_THAT(resumed.err, HasSubstr("the report in --times have changed; run the cases again"));
  ASSERT_EQ(run("other", part("2")).exit_code, 0);
  const ProcessResult merged = assay({"merge", path("mixed"), path("first"), path("other")});
  EXPECT_EQ(merged.exit_code, 2);
  EXPECT_THAT(merged.err, HasSubstr("the report in --times differ"));
}

TEST_F(ChainRuns, NeedAReportWithTimes) {
  const ProcessResult missing = run("out", {"--times", path("nowhere")});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("nowhere"));
  ASSERT_EQ(run("accuracy", {"--impl", "optimal"}).exit_code, 0);
  const ProcessResult untimed = run("out", {"--times", path("accuracy")});
  EXPECT_EQ(untimed.exit_code, 2);
  EXPECT_THAT(untimed.err, HasSubstr("no row of '"));
  const ProcessResult graph = assay({"show", path("accuracy"), "*one*fastest", "--dot"});
  EXPECT_EQ(graph.exit_code, 2);
}

}  // namespace
}  // namespace assay::test
