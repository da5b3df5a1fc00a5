#pragma once

#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"
#include "tests/support/tree_shader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <thread>

namespace assay::test {

/// `assay run --watch` on one small case and a folder with its shader, running.
class Watching {
 public:
  explicit Watching(const std::vector<std::string>& more = {}) {
    cases_ = folder_.write("c.yaml", perf_cases);
    write_shader(shader());
    std::vector<std::string> words{
        ASSAY_BINARY,        "run",   "--ceilings",    "none",     cases_, "--shaders",
        folder_ / "shaders", "--out", folder_ / "out", "--budget", "0.1",  "--watch"};
    words.insert(words.end(), more.begin(), more.end());
    pid_ = start({.words = words}, folder_ / "stdout", folder_ / "stderr");
    wait_for("Ctrl-C ends");
  }
  ~Watching() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

  static std::string shader() { return tree_shader("q8ta_pixel_shuffle.comp"); }
  static std::string shader_with(const std::string& statement) {
    std::string text = shader();
    const std::string head = "void main() {";
    return text.replace(text.rfind(head), head.size(), head + "\n  " + statement);
  }
  void write_shader(const std::string& text) { replace("shaders/q8ta_pixel_shuffle.comp", text); }
  void write_cases(const std::string& text) { replace("c.yaml", text); }

  /// The output since the last call, once it has `words` and after them the run's duration.
  std::string wait_for(const std::string& words) {
    std::string said;
    for (int i = 0; i < 3000; ++i) {  // a minute: a hang, not a busy machine
      said = read_file(folder_ / "stdout").substr(heard_);
      const auto at = said.find(words);
      if (at != std::string::npos && said.find('\n', at) != std::string::npos && said.ends_with("\n")) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_THAT(said, ::testing::HasSubstr(words)) << read_file(folder_ / "stderr");
    heard_ += said.size();
    return said;
  }
  std::string wait_for_run() {
    std::string said = wait_for("changed: ");
    if (said.find(" s\n") == std::string::npos) said += wait_for(" s\n");
    return said;
  }

  /// How many runs saved files have caused.
  int runs() const {
    const std::string said = read_file(folder_ / "stdout");
    int count = 0;
    for (auto at = said.find("changed: "); at != said.npos; at = said.find("changed: ", at + 1)) ++count;
    return count;
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
  /// At once: nobody sees half a file, however long this process has to wait for its turn.
  void replace(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::filesystem::rename(folder_.write("new", text), folder_ / name);
  }

  TemporaryFolder folder_;
  std::string cases_;
  int pid_ = 0;
  std::size_t heard_ = 0;
};

}  // namespace assay::test
