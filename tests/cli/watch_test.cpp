#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <thread>

namespace assay::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* id = "q8ta_pixel_shuffle/timed/4W4C.4W4C/fused";

/// `assay run --watch` on one small case and a folder with its shader, running.
class Watching {
 public:
  Watching() {
    cases_ = folder_.write("c.yaml", perf_cases);
    write_shader(shader());
    pid_ = start({.words = {ASSAY_BINARY, "run", cases_, "--shaders", folder_ / "shaders", "--out",
                            folder_ / "out", "--budget", "0.1", "--watch"}},
                 folder_ / "stdout", folder_ / "stderr");
    wait_for("Ctrl-C ends");
  }
  ~Watching() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

  static std::string shader() { return read_file(ASSAY_SOURCE_DIR "/shaders/q8ta_pixel_shuffle.comp"); }
  static std::string shader_with(const std::string& statement) {
    std::string text = shader();
    const std::string head = "void main() {";
    return text.replace(text.rfind(head), head.size(), head + "\n  " + statement);
  }
  void write_shader(const std::string& text) { folder_.write("shaders/q8ta_pixel_shuffle.comp", text); }
  void write_cases(const std::string& text) { folder_.write("c.yaml", text); }

  /// What was said since the last time, once `words` and the run's duration after them have come.
  std::string wait_for(const std::string& words) {
    std::string said;
    for (int i = 0; i < 300; ++i) {
      said = read_file(folder_ / "stdout").substr(heard_);
      const auto at = said.find(words);
      if (at != std::string::npos && said.find('\n', at) != std::string::npos && said.ends_with("\n")) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_THAT(said, HasSubstr(words)) << read_file(folder_ / "stderr");
    heard_ += said.size();
    return said;
  }
  std::string wait_for_run() {
    std::string said = wait_for("changed: ");
    if (said.find(" s\n") == std::string::npos) said += wait_for(" s\n");
    return said;
  }

  std::string stderr_text() const { return read_file(folder_ / "stderr"); }

  int end_with(int signal) {
    ::kill(pid_, signal);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  TemporaryFolder folder_;
  std::string cases_;
  int pid_ = 0;
  std::size_t heard_ = 0;
};

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

TEST(Watch, ReactsInLessThanTwoSeconds) {
  Watching watching;
  const auto saved = std::chrono::steady_clock::now();
  watching.write_shader(Watching::shader() + "// another line\n");
  const std::string said = watching.wait_for_run();
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - saved).count();
  EXPECT_LT(took, 2);
  EXPECT_THAT(said, Not(HasSubstr("FAIL")));
}

}  // namespace
}  // namespace assay::test
