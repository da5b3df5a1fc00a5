#include "harness/report/journal/journal.h"
#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <utility>
#include <vector>

// The state of a run after a signal. Signals are sent when the journal shows that the run is at that point.

namespace assay::test {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

/// Six rows that are timed in turns, for seconds on any machine.
constexpr const char* long_cases = R"(op: q8ta_pixel_shuffle
cases:
  - name: long
    mode: perf
    upscale_factor: 2
    shape: {each: [[1, 64, 96, 96], [1, 64, 104, 96], [1, 64, 112, 96]]}
    qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
    forms: {each: [{x: buffer/4W4C, y: buffer/4W4C}, {x: buffer/4W4C, y: buffer/4C1W}]}
)";
constexpr int long_rows = 6;

/// A run of `long_cases` that goes on beside the test.
class Running {
 public:
  explicit Running(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {ASSAY_BINARY, "run",           folder_.write("c.yaml", long_cases),
                                      "--out",      folder_ / "out", "--ceilings",
                                      "none"};
    words.insert(words.end(), more.begin(), more.end());
    pid_ = start({.words = words}, folder_ / "stdout", folder_ / "stderr");
  }
  ~Running() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  /// Waits until the timed rows alternate: each has begun once to be checked, and some again to be timed.
  bool wait_until_rows_take_turns() const {
    return wait_until([this] {
      const std::string text = journal_text();
      int begun = 0;
      for (auto at = text.find("\"begin\""); at != text.npos; at = text.find("\"begin\"", at + 1)) ++begun;
      return begun > long_rows + 1;
    });
  }
  bool wait_until_said(const std::string& words) const {
    return wait_until([&] { return err().find(words) != std::string::npos; });
  }

  void send(int signal) const { ::kill(pid_, signal); }
  void send_while_it_is_suspended(std::initializer_list<int> signals) const {
    send(SIGSTOP);
    for (const int signal : signals) send(signal);
    send(SIGCONT);
  }
  std::vector<int> workers() const {
    const std::string pid = std::to_string(pid_);
    std::istringstream children(read_file("/proc/" + pid + "/task/" + pid + "/children"));
    std::vector<int> pids;
    for (int child = 0; children >> child;) pids.push_back(child);
    return pids;
  }
  void send_to_workers(int signal) const {
    for (const int worker : workers()) ::kill(worker, signal);
  }
  /// To its workers, and then to itself: as Slurm and systemd stop what they have started.
  void send_to_all(int signal) const {
    send_to_workers(signal);
    send(signal);
  }
  /// The status as waitpid() gives it.
  int wait_for_end() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return status;
  }

  std::string out() const { return read_file(folder_ / "stdout"); }
  std::string err() const { return read_file(folder_ / "stderr"); }
  fs::path reports() const { return device_folder(folder_ / "out"); }

 private:
  static bool wait_until(const std::function<bool()>& reached) {
    for (int i = 0; i < 2500; ++i) {  // 50 s: a hang, not a busy machine
      if (reached()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }
  std::string journal_text() const {
    if (!fs::exists(folder_ / "out")) return "";
    const fs::path device = device_folder(folder_ / "out");
    return device.empty() ? "" : read_file(device / "journal.jsonl");
  }

  TemporaryFolder folder_;
  int pid_ = 0;
};

std::size_t rows_with(const RunReport& report, Status status) {
  return static_cast<std::size_t>(std::ranges::count(report.records, status, &Record::status));
}

void expect_one_status_a_row(const RunReport& report) {
  EXPECT_FALSE(report.complete);
  ASSERT_EQ(report.records.size(), static_cast<std::size_t>(long_rows));
  EXPECT_LE(rows_with(report, Status::Interrupted), 1U);
  EXPECT_EQ(rows_with(report, Status::Fail), 0U);
  EXPECT_EQ(rows_with(report, Status::Interrupted) + rows_with(report, Status::Missing) +
                rows_with(report, Status::Pass),
            report.records.size());
  EXPECT_GT(rows_with(report, Status::Missing), 0U);
}

void expect_clean_end(Running& running) {
  const int status = running.wait_for_end();
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 3) << running.out();
  expect_one_status_a_row(read_journal(running.reports() / "journal.jsonl"));
  EXPECT_THAT(read_file(running.reports() / "run.json"), HasSubstr("\"complete\": false"));
  EXPECT_THAT(read_file(running.reports() / "perf.csv"), HasSubstr("MISSING"));
  EXPECT_THAT(running.out(), HasSubstr("\ninterrupted: "));
  EXPECT_THAT(running.out(), EndsWith("the others are MISSING\n"));
}

void expect_cleanly_interrupted(Running& running, int signal) {
  ASSERT_TRUE(running.wait_until_rows_take_turns()) << running.err();
  running.send(signal);
  expect_clean_end(running);
}

TEST(Interrupt, LeavesReportsInWhichEveryRowHasOneStatus) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Running running;
    expect_cleanly_interrupted(running, signal);
    EXPECT_THAT(running.err(), HasSubstr("another signal, a second or more later, stops immediately"));
  }
}

TEST(Interrupt, IsNoCrashOfAWorkerThatGetsTheSignalToo) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Running running;
    ASSERT_TRUE(running.wait_until_rows_take_turns()) << running.err();
    running.send_to_all(signal);
    expect_clean_end(running);
  }
}

TEST(Interrupt, EndsTheFirstRoundOfWatchingInTheSameWay) {
  Running running({"--watch"});
  expect_cleanly_interrupted(running, SIGINT);
  EXPECT_THAT(running.out(), Not(HasSubstr("watching ")));
}

/// As `timeout N assay run` does: the child, then its process group, which it is in.
TEST(Interrupt, IsOneRequestIfTwoSignalsComeTogether) {
  for (const auto& [first, second] : {std::pair(SIGTERM, SIGTERM), std::pair(SIGINT, SIGTERM)}) {
    Running running;
    ASSERT_TRUE(running.wait_until_rows_take_turns()) << running.err();
    running.send_while_it_is_suspended({first, second});
    expect_clean_end(running);
  }
}

TEST(Interrupt, ALaterSignalEndsAtOnce) {
  Running running;
  ASSERT_TRUE(running.wait_until_rows_take_turns()) << running.err();
  running.send_to_workers(SIGSTOP);  // so that the row does not end
  running.send(SIGINT);
  ASSERT_TRUE(running.wait_until_said("stopping after")) << running.err();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // what makes it a later one
  const std::vector<int> workers = running.workers();
  running.send(SIGTERM);
  const int status = running.wait_for_end();
  EXPECT_TRUE(WIFSIGNALED(status)) << "it ended with " << WEXITSTATUS(status);
  for (const int worker : workers) ::kill(worker, SIGKILL);
}

}  // namespace
}  // namespace assay::test
