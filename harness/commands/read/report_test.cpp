#include "harness/commands/read/report.h"

#include "harness/report/journal/journal.h"
#include "tests/support/error_text.h"
#include "tests/support/tell.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>

namespace assay::app {
namespace {

using ::testing::HasSubstr;

Record timed_row(const std::string& name, const std::string& model, const std::string& layer) {
  Record record = test::timed(name, "fused", 2);
  record.info.model = model;
  record.info.layer = layer;
  record.info.tokens = layer.empty() ? 0 : 1;
  return record;
}

TEST(SummaryCommand, SaysWhyAModelWithTimedRowsHasNoStep) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = std::filesystem::path(folder.path()) / "journal.jsonl";
  {
    Journal journal(path);
    test::tell(journal, {timed_row("a", "llama", "mlp.up"), timed_row("b", "mobilenet_v2", ""),
                         timed_row("c", "mobilenet_v2", "")});
  }
  std::ostringstream out;
  EXPECT_THAT(test::error_of([&] {
                static_cast<void>(summary({.reports = {path}, .models = {"mobilenet_v2"}}, {out, out, out}));
              }),
              HasSubstr("--model: no report has a step of a model 'mobilenet_v2': its 2 timed rows name no "
                        "`layer`; the models with steps are\n  llama"));
}

TEST(ReportCommand, RefusesAJournalThatContradictsItself) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = std::filesystem::path(folder.path()) / "journal.jsonl";
  {
    Journal journal(path);
    test::tell(journal, {timed_row("a", "", "")});
  }
  std::ostringstream out;
  const auto error_of_reading = [&] {
    return test::error_of([&] { static_cast<void>(report({.report = path}, {out, out, out})); });
  };
  EXPECT_EQ(error_of_reading(), "");
  const std::string text = test::read_file(path);
  const std::size_t end = text.find(R"({"event":"end")");
  test::write_file(path, text + text.substr(end, text.find('\n', end) + 1 - end));
  EXPECT_THAT(error_of_reading(), HasSubstr("it ends twice; no run writes such a record"));
}

TEST(PivotCommand, RefusesToCompareEnergiesThatNoRowHasAndSaysWhy) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = std::filesystem::path(folder.path()) / "journal.jsonl";
  {
    RunInfo run = test::sample_run();
    run.energy = "none: battery: /sys/class/power_supply has no battery";
    Journal journal(path);
    test::tell(journal, {timed_row("a", "", "")}, run);
  }
  std::ostringstream out;
  const auto pivot_of = [&](const std::string& figure) {
    return test::error_of([&] {
      static_cast<void>(pivot({.reports = {path}, .figure = figure}, {out, out, out}));
    });
  };
  EXPECT_THAT(pivot_of("energy_j"), HasSubstr("comparing energy_j: no row that passed has it; "));
  EXPECT_THAT(pivot_of("energy_j"), HasSubstr("/sys/class/power_supply has no battery"));
  EXPECT_EQ(pivot_of("time_us_p50"), "");
}

}  // namespace

}  // namespace assay::app
