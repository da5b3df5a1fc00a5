#include "harness/commands/mutate/trial_worker.h"

#include "harness/commands/mutate/fault_test_support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay::app {
namespace {

TEST(TrialProtocol, PassesSetupAndRequestsOn) {
  const TrialSetup setup =
      parse_setup(line_of({.cases = {"a.yaml"}, .shaders = "s", .device = 2, .scratch = "t"}));
  EXPECT_EQ(setup.cases, (std::vector<std::filesystem::path>{"a.yaml"}));
  EXPECT_EQ(setup.shaders, "s");
  EXPECT_EQ(setup.device, 2U);
  EXPECT_EQ(setup.scratch, "t");
  const TrialRequest request =
      parse_request(line_of({.file = "a.comp", .text = "line\nline", .rows = {4, 2}, .most_rows = 9}));
  EXPECT_EQ(request.file, "a.comp");
  EXPECT_EQ(request.text, "line\nline");
  EXPECT_EQ(request.rows, (std::vector<std::size_t>{4, 2}));
  EXPECT_EQ(request.most_rows, 9U);
}

TEST(TrialProtocol, PassesNewsOn) {
  EXPECT_EQ(parse_news(line_of(TrialNews{.ready = "x"})).ready, "x");
  EXPECT_EQ(parse_news(line_of(TrialNews{.row = 3})).row, 3U);
  EXPECT_EQ(parse_news(line_of(TrialNews{.row = no_row})).row, no_row);
  EXPECT_EQ(parse_news(line_of(TrialNews{.damaged = "copy/a"})).damaged, "copy/a");
  const TrialNews kill = parse_news(line_of(TrialNews{.kill = TrialNews::RowKill{5, kill_by("copy/a")}}));
  EXPECT_EQ(kill.kill.value().row, 5U);
  EXPECT_EQ(kill.kill->kill.word, "shifted");
  const FaultResult result = fault_record("f1", FaultEnd::Unchanged).result;
  const TrialNews end = parse_news(line_of(TrialNews{.end = TrialNews::End{result, true}}));
  EXPECT_EQ(end.end.value().result.end, FaultEnd::Unchanged);
  EXPECT_TRUE(end.end->retires);
}

TEST(TrialProtocol, KeepsToOneLineWhateverADriverSays) {
  Kill kill = kill_by("copy/a");
  kill.how = "FAIL a\nb\xff";
  const std::string line = line_of(TrialNews{.kill = TrialNews::RowKill{5, kill}});
  EXPECT_EQ(std::ranges::count(line, '\n'), 1);
  EXPECT_EQ(parse_news(line).kill.value().kill.how, "FAIL a");
}

}  // namespace

}  // namespace assay::app
