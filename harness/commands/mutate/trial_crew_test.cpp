#include "harness/commands/mutate/trial_crew.h"

#include "harness/base/error.h"
#include "harness/commands/mutate/fault_test_support.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::app {
namespace {

/// A shell script in place of a worker: it reads the setup, says that it is ready, and then what is given.
TrialProcess scripted(const std::string& script, double row_s = 60) {
  return {shell_command(R"(read setup; echo '{"ready": "rows"}'; )" + script),
          {},
          "rows",
          {.row_s = row_s, .between_s = 60}};
}

TrialOutcome outcome_of_one(TrialProcess& process) {
  process.begin({.file = "a.comp"});
  for (;;) {
    if (auto outcome = process.poll()) return *outcome;
    sleep_for_seconds(0.01);
  }
}

const std::string reads = "read request; ";

TEST(TrialProcess, TellsHowAFaultEnded) {
  const FaultResult result = fault_record("f1", FaultEnd::Killed, {kill_by("copy/a")}).result;
  TrialProcess process =
      scripted(reads + said({.row = 3}) + said({.kill = TrialNews::RowKill{3, kill_by("copy/a")}}) +
               said({.row = no_row}) + said({.end = TrialNews::End{result, false}}) + "read more");
  const TrialOutcome outcome = outcome_of_one(process);
  EXPECT_EQ(outcome.result.end, FaultEnd::Killed);
  EXPECT_EQ(outcome.killers, (std::vector<std::size_t>{3}));
  EXPECT_FALSE(process.is_gone());
  EXPECT_FALSE(process.is_busy());
}

TEST(TrialProcess, ACrashInARowIsAKill) {
  TrialProcess process = scripted(reads + said({.row = 3}) + "kill -SEGV $$");
  const TrialOutcome outcome = outcome_of_one(process);
  EXPECT_EQ(outcome.result.end, FaultEnd::Killed);
  ASSERT_EQ(outcome.result.kills.size(), 1U);
  EXPECT_EQ(outcome.result.kills[0].how, "CRASH");
  EXPECT_EQ(outcome.killers, (std::vector<std::size_t>{3}));
  EXPECT_EQ(outcome.result.rows_ran, 1U);
  EXPECT_FALSE(outcome.is_open);
  EXPECT_TRUE(process.is_gone());
}

TEST(TrialProcess, ACrashAfterAnotherFaultIsOpen) {
  const FaultResult first = fault_record("f1", FaultEnd::Survived).result;
  TrialProcess process = scripted(reads + said({.end = TrialNews::End{first, false}}) + reads +
                                  said({.row = 3}) + "kill -SEGV $$");
  EXPECT_EQ(outcome_of_one(process).result.end, FaultEnd::Survived);
  EXPECT_TRUE(outcome_of_one(process).is_open);
}

TEST(TrialProcess, ARowThatHangsIsAKill) {
  TrialProcess process = scripted(reads + said({.row = 3}) + "sleep 60", 0.05);
  const TrialOutcome outcome = outcome_of_one(process);
  EXPECT_EQ(outcome.result.end, FaultEnd::Killed);
  EXPECT_EQ(outcome.result.kills.at(0).how, "TIMEOUT");
  EXPECT_FALSE(outcome.is_open);
  EXPECT_TRUE(process.is_gone());
}

TEST(TrialProcess, ACrashOfTheCompilerIsNoKill) {
  TrialProcess process = scripted(reads + "exit 1");
  EXPECT_EQ(outcome_of_one(process).result.end, FaultEnd::DoesNotCompile);
}

TEST(TrialProcess, AProcessThatEndsAtALaterVariantLeavesWhatTheRowsShowed) {
  TrialProcess process = scripted(reads + said({.row = 3}) + said({.row = no_row}) + "exit 1");
  EXPECT_EQ(outcome_of_one(process).result.end, FaultEnd::Survived);
}

TEST(TrialProcess, AnErrorOutsideOfRowsIsNoFaults) {
  TrialProcess process = scripted(reads + said({.error = "the disk is full"}) + "sleep 60");
  EXPECT_THROW(outcome_of_one(process), Error);
}

TEST(TrialProcess, ARowThatShowsDamageOfTheProcessIsAKillIfNoFaultCameBefore) {
  TrialProcess process = scripted(reads + said({.row = 3}) + said({.damaged = "copy/a"}) + "sleep 60");
  const TrialOutcome outcome = outcome_of_one(process);
  EXPECT_EQ(outcome.result.end, FaultEnd::Killed);
  EXPECT_TRUE(process.is_gone());
}

TEST(TrialProcess, GetsALargeFaultHoweverLongItStarts) {
  const FaultResult result = fault_record("f1", FaultEnd::Survived).result;
  TrialProcess process(shell_command(R"(sleep 0.3; read setup; echo '{"ready": "rows"}'; )" + reads +
                                     said({.end = TrialNews::End{result, false}}) + "read more"),
                       {}, "rows", {.row_s = 60, .between_s = 60});
  process.begin({.file = "a.comp", .text = std::string(300'000, 'x')});
  EXPECT_TRUE(process.is_busy());  // begin() did not wait for the pipe
  std::optional<TrialOutcome> outcome;
  while (!(outcome = process.poll())) sleep_for_seconds(0.01);
  EXPECT_EQ(outcome->result.end, FaultEnd::Survived);
}

TEST(TrialProcess, ThatCannotStartIsAnErrorWithWhatItSaid) {
  TrialProcess process(shell_command("read setup; echo no driver >&2; exit 3"), {}, "rows",
                       {.row_s = 60, .between_s = 60});
  try {
    outcome_of_one(process);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("exited with code 3"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("no driver"), std::string::npos) << error.what();
  }
}

TEST(TrialProcess, WithOtherRowsIsAnError) {
  TrialProcess process(shell_command(R"(read setup; echo '{"ready": "others"}'; sleep 60)"), {}, "rows",
                       {.row_s = 60, .between_s = 60});
  EXPECT_THROW(outcome_of_one(process), Error);
}

std::string said_end(FaultEnd end) {
  return said({.end = TrialNews::End{fault_record("f1", end).result, false}});
}

class TrialCrewTest : public testing::Test {
 protected:
  /// Tries a fault with rows 3 and 4. Row 3 crashes, or hangs, with the fault; `without` is what the worker
  /// does without any.
  TrialOutcome tried(const std::string& with, const std::string& without) {
    const std::string script =
        "read setup; echo '{\"ready\": \"rows\"}'; read request; case \"$request\" in "
        "*without_fault*true*) " +
        said({.row = 3}) + without +
        ";; "
        "*rows*3,4*) " +
        said({.row = 3}) + with +
        ";; "
        "*) " +
        said({.row = 4}) + said_end(FaultEnd::Survived) + "read more;; esac";
    TrialCrew crew({.command = shell_command(script),
                    .setup = {.cases = {}, .shaders = {}, .scratch = folder.path()},
                    .fingerprint = "rows",
                    .limits = {.row_s = 0.5, .between_s = 60},
                    .processes = 1});
    crew.begin(7, {.file = "a.comp", .text = "x", .rows = {3, 4}, .most_rows = 2});
    for (;;) {
      for (const TrialCrew::Finished& finished : crew.wait(0.05)) {
        EXPECT_EQ(finished.fault, 7U);
        EXPECT_TRUE(crew.is_idle());
        return finished.outcome;
      }
    }
  }

  const std::string passes = said_end(FaultEnd::Survived) + "read more";
  const std::string fails = said_end(FaultEnd::NotRun) + "read more";
  test::TemporaryFolder folder;
};

TEST_F(TrialCrewTest, ACrashOfARowThatPassesWithoutTheFaultIsAKill) {
  const TrialOutcome outcome = tried("kill -SEGV $$", passes);
  EXPECT_EQ(outcome.result.end, FaultEnd::Killed);
  EXPECT_EQ(outcome.result.kills.at(0).how, "CRASH");
  EXPECT_EQ(outcome.killers, (std::vector<std::size_t>{3}));
}

TEST_F(TrialCrewTest, ARowThatAlsoCrashesWithoutTheFaultIsLeftOut) {
  EXPECT_EQ(tried("kill -SEGV $$", "kill -SEGV $$").result.end, FaultEnd::Survived);
  EXPECT_EQ(tried("kill -SEGV $$", fails).result.end, FaultEnd::Survived);
}

TEST_F(TrialCrewTest, ARowThatIsAlsoTooSlowWithoutTheFaultIsLeftOut) {
  EXPECT_EQ(tried("sleep 60", passes).result.kills.at(0).how, "TIMEOUT");
  EXPECT_EQ(tried("sleep 60", "sleep 60").result.end, FaultEnd::Survived);
}

}  // namespace

}  // namespace assay::app
