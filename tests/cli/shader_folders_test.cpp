#include "harness/report/journal/journal.h"
#include "harness/report/writers/writers.h"
#include "tests/cli/sample_cases.h"
#include "tests/cli/watching.h"
#include "tests/support/assay_binary.h"
#include "tests/support/tree_shader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace assay::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A folder with the shuffle's kernel, changed by `edit`.
std::string version(const TemporaryFolder& folder, const std::string& name, const std::string& before,
                    const std::string& after) {
  std::string text = tree_shader("q8ta_pixel_shuffle.comp");
  if (!before.empty()) text.replace(text.rfind(before), before.size(), after);
  folder.write(name + "/q8ta_pixel_shuffle.comp", text);
  return folder / name;
}

std::string slow_main(const std::string& call) {
  // The answer stays: the loop's end is the host's to choose, so that no compiler can leave it out.
  return "void main() {\n  uint spent = 0u;\n  for (uint i = 0u; i < 20000u; ++i) spent = (spent * 5u) ^ "
         "(i + gl_NumWorkGroups.x);\n  if (spent == 12345u) return;\n" +
         call;
}

RunReport report_in(const TemporaryFolder& folder) {
  return read_journal(device_folder(folder / "out") / "journal.jsonl");
}

TEST(CompareShaders, ASlowerVersionIsSlowerAndTheJournalKnowsIt) {
  const TemporaryFolder folder;
  const std::string mine = version(folder, "mine", "void main() {", slow_main(""));
  const ProcessResult result = assay({"run", "--ceilings", "none", folder.write("c.yaml", perf_pair_cases),
                                      "--versus-shaders", mine, "--out", folder / "out", "--budget", "0.1"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("shaders " + mine + " vs the embedded shaders: "));
  EXPECT_THAT(result.out, HasSubstr("x slower ("));

  const RunReport report = report_in(folder);
  ASSERT_EQ(report.records.size(), 4U) << "two rows, each in two versions";
  for (std::size_t i = 1; i < 4; i += 2) {
    const Record& own = report.records[i - 1];
    const Record& versus = report.records[i];
    EXPECT_FALSE(own.comparison);
    EXPECT_EQ(versus.info.id, own.info.id + "/versus");
    EXPECT_EQ(versus.info.shaders, mine);
    ASSERT_TRUE(versus.comparison);
    EXPECT_EQ(versus.comparison->baseline, own.info.id);
    EXPECT_GT(versus.comparison->ratio_low, 1);
    EXPECT_GE(versus.comparison->blocks, 10);
    EXPECT_EQ(versus.comparison->blocks, own.perf->blocks) << "every block has a partner";
    EXPECT_THAT(versus.repro, HasSubstr("--filter '" + own.info.id + "'"));
    EXPECT_THAT(versus.repro, HasSubstr("--shaders " + mine));
  }
  EXPECT_THAT(assay({"report", device_folder(folder / "out").string()}).out, HasSubstr("x slower ("))
      << "reports are a function of the journal";
}

TEST(CompareShaders, AWrongVersionFailsAndIsNotCompared) {
  const TemporaryFolder folder;
  const std::string mine = version(folder, "mine", "void main() {", "void main() {\n  return;\n");
  const ProcessResult result = assay({"run", "--ceilings", "none", folder.write("c.yaml", perf_cases),
                                      "--versus-shaders", mine, "--out", folder / "out", "--budget", "0.1"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("not compared: this row is FAIL"));
  const RunReport report = report_in(folder);
  ASSERT_EQ(report.records.size(), 2U);
  EXPECT_EQ(report.records[0].status, Status::Pass);
  EXPECT_EQ(report.records[1].status, Status::Fail);
}

TEST(CompareShaders, AWrongBaselineIsNamed) {
  const TemporaryFolder folder;
  const std::string broken = version(folder, "broken", "void main() {", "void main() {\n  return;\n");
  const std::string good = version(folder, "good", "", "");
  const ProcessResult result =
      assay({"run", "--ceilings", "none", folder.write("c.yaml", perf_cases), "--shaders", broken,
             "--versus-shaders", good, "--out", folder / "out", "--budget", "0.1"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("not compared: its baseline q8ta_pixel_shuffle/timed/4W4C.4W4C/fused is FAIL"));
}

TEST(CompareShaders, NothingToTimeIsAUsageError) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", shuffle_cases);
  const ProcessResult result = assay({"run", "--ceilings", "none", cases, "--versus-shaders",
                                      ASSAY_SOURCE_DIR "/shaders", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("no row of mode perf is selected"));
}

TEST(BaselineImpl, AnImplThatIsNotSelectedIsAUsageErrorThatNamesThoseThatAre) {
  const TemporaryFolder folder;
  const ProcessResult result = assay({"run", "--ceilings", "none", folder.write("c.yaml", perf_cases),
                                      "--baseline-impl", "fuse", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("no selected row of mode perf has impl 'fuse'; the impls are: fused"));
  EXPECT_THAT(result.out, Not(HasSubstr("COMPARISONS")));
}

TEST(BaselineImpl, ExcludesTwoVersionsOfTheShaders) {
  const TemporaryFolder folder;
  EXPECT_EQ(assay({"run", "--ceilings", "none", folder.write("c.yaml", perf_cases), "--baseline-impl",
                   "fused", "--versus-shaders", ASSAY_SOURCE_DIR "/shaders", "--out", folder / "out"})
                .exit_code,
            2);
}

constexpr const char* id = "q8ta_pixel_shuffle/timed/4W4C.4W4C/fused";

TEST(Watch, TellsWhatASavedShaderChangedAndGoesOnAfterAnErrorInIt) {
  Watching watching;
  watching.write_shader(Watching::shader_with("return;"));
  std::string said = watching.wait_for_run();
  EXPECT_THAT(said, HasSubstr("shaders/q8ta_pixel_shuffle.comp\n"));
  EXPECT_THAT(said, HasSubstr("PASS -> FAIL  " + std::string(id) + " (perf)  no time, before "));
  EXPECT_THAT(said, HasSubstr("never written"));

  watching.write_shader(Watching::shader_with("nonsense;"));
  said = watching.wait_for_run();
  EXPECT_THAT(said, HasSubstr("'nonsense' : undeclared identifier"));
  EXPECT_THAT(said, HasSubstr("|   nonsense;")) << "the line of the GLSL file is quoted";

  watching.write_shader(Watching::shader());
  said = watching.wait_for_run();
  EXPECT_THAT(said, HasSubstr("FAIL -> PASS  " + std::string(id)));
  EXPECT_EQ(watching.end_with(SIGINT), 0);
}

TEST(Watch, ItsExitCodeIsThatOfTheLastRun) {
  Watching watching;
  watching.write_shader(Watching::shader_with("return;"));
  watching.wait_for_run();
  EXPECT_EQ(watching.end_with(SIGINT), 1);
}

TEST(Watch, GoesOnAfterARunThatMaxFailuresStopped) {
  Watching watching({"--max-failures", "1"});
  std::string two = perf_cases;
  const std::string one = "zero_point: 5";
  watching.write_cases(two.replace(two.find(one), one.size(), "zero_point: {each: [5, 6]}"));
  watching.wait_for_run();
  watching.write_shader(Watching::shader_with("return;"));
  EXPECT_THAT(watching.wait_for_run(), HasSubstr("stopped at --max-failures 1"));
  watching.write_shader(Watching::shader());
  EXPECT_THAT(watching.wait_for_run(), HasSubstr("FAIL -> PASS"));
  EXPECT_EQ(watching.end_with(SIGINT), 0);
}

TEST(Watch, CasesAreReadAgain) {
  Watching watching;
  std::string text = perf_cases;
  watching.write_cases(text.replace(text.find("timed"), 5, "again"));
  std::string said = watching.wait_for_run();
  EXPECT_THAT(said, HasSubstr("new: PASS  q8ta_pixel_shuffle/again/4W4C.4W4C/fused (perf)"));
  EXPECT_THAT(said, HasSubstr("gone  " + std::string(id)));

  watching.write_cases("op: q8ta_pixel_shufle\n");
  said = watching.wait_for_run();
  EXPECT_THAT(said, HasSubstr("nothing was run"));
  EXPECT_THAT(watching.stderr_text(), HasSubstr("q8ta_pixel_shufle"));

  watching.write_cases(perf_cases);
  EXPECT_THAT(watching.wait_for_run(), HasSubstr("new: PASS  " + std::string(id)));
  EXPECT_EQ(watching.end_with(SIGINT), 0);
}

// How soon is printed by a benchmark (tests/benchmarks).
TEST(Watch, ASaveIsAnsweredByOneRun) {
  Watching watching;
  watching.write_shader(Watching::shader() + "// another line\n");
  EXPECT_THAT(watching.wait_for_run(), Not(HasSubstr("FAIL")));
  watching.write_shader(Watching::shader() + "// another line\n");  // nothing changes: no run
  watching.write_shader(Watching::shader() + "// and another\n");
  watching.wait_for_run();
  EXPECT_EQ(watching.end_with(SIGINT), 0);
  EXPECT_EQ(watching.runs(), 2);
}

}  // namespace

}  // namespace assay::test
