#include "tests/cli/sample_cases.h"
#include "tests/cli/watching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace assay::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
