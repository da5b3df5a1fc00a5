#include "harness/commands/mutate/trial_crew.h"

#include "harness/commands/mutate/fault_test_support.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::app {
namespace {

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
