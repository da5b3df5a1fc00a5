#include "harness/report/console/rule_notes.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(RuleNoteLines, SayWhichRuleItIsAndWhatToDo) {
  RunInfo run;
  EXPECT_EQ(rule_note_lines(run, false), "");
  run.rule_notes = {{"stale", {"cases/expectations/gpu.yaml", 3, 5}, "op/\x1b*", "a bug", "remove it"}};
  EXPECT_EQ(rule_note_lines(run, false),
            "stale  cases/expectations/gpu.yaml:3  op/\\x1b*  (a bug)\n"
            "    remove it\n");
}

}  // namespace
}  // namespace assay
