#include "harness/commands/import/import.h"

#include "harness/commands/find_report.h"
#include "harness/report/devices/pivot.h"
#include "harness/report/journal/journal.h"
#include "tests/support/error_text.h"
#include "tests/support/simulated_series.h"
#include "tests/support/tell.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <sstream>

namespace assay::app {
namespace {

using ::testing::HasSubstr;

/// A timed row of case `name` with shape 8x16.
Record timed_case(const std::string& name, const std::string& impl, double us) {
  Record record = test::measured(name, test::blocks({us, us, us, us, us}));
  record.info.id = "shuffle/" + name + "/" + impl;
  record.info.name = record.info.group = name;
  record.info.impl = impl;
  record.info.shape = "8x16";
  return record;
}

class Import : public ::testing::Test {
 protected:
  Import() { write_ours(); }

  void add(const Record& row) {
    ours_.push_back(row);
    write_ours();
  }
  void write_ours() const {
    Journal journal(std::filesystem::path(folder_ / "ours") / "journal.jsonl");
    test::tell(journal, ours_);
  }

  RunReport import(const std::string& text) {
    const Context context{registry_, {"assay", "import"}, {.version = "0.1.0"}};
    import_times({.file = folder_.write("times.csv", text),
                  .name = "PyTorch 2.11",
                  .rows = folder_ / "ours",
                  .out = folder_ / "out"},
                 context, {out_, log_, log_});
    return read_journal(only_journal(folder_ / "out"));
  }
  std::string refusal(const std::string& text) {
    return test::error_of([&] { import(text); });
  }
  RunReport ours() const { return read_journal(only_journal(folder_ / "ours")); }
  std::string log() const { return log_.str(); }
  std::string out() const { return out_.str(); }

 private:
  test::TemporaryFolder folder_;
  std::vector<Record> ours_{timed_case("a", "fused", 10), timed_case("a", "auto", 9),
                            timed_case("b", "fused", 20)};
  Registry registry_{{}};
  std::ostringstream out_, log_;
};

TEST_F(Import, MakesAReportOfOneMoreDevice) {
  const RunReport report =
      import("id,us,source\nshuffle/a/fused,5,\"=cmd, on an H100\"\nshuffle/b/fused,40,\n");
  EXPECT_EQ(report.run.device.name, "PyTorch 2.11");
  EXPECT_EQ(report.run.device.driver_info, "=cmd, on an H100");
  ASSERT_EQ(report.records.size(), 2U);
  EXPECT_EQ(report.records[0].info.id, "shuffle/a/fused");
  EXPECT_EQ(report.records[0].status, Status::Pass);
  EXPECT_DOUBLE_EQ(report.records[0].perf->time_us_p50, 5);
  EXPECT_FALSE(report.records[0].perf->verified);
  const std::vector<RunReport> both{ours(), report};
  const std::string table = pivot_text(make_pivot(both), {.width = 200, .all = true});
  EXPECT_THAT(table, HasSubstr("PyTorch 2.11"));
  EXPECT_THAT(out(), HasSubstr("2 times imported as 'PyTorch 2.11', for 2 rows: "));
}

TEST_F(Import, FindsRowsByOpAndShapeAndTakesAutoForACase) {
  const RunReport report = import("op,shape,us\nshuffle,8x16,5\n");
  ASSERT_EQ(report.records.size(), 2U) << "one of each case";
  EXPECT_EQ(report.records[0].info.id, "shuffle/a/auto");
  EXPECT_EQ(report.records[1].info.id, "shuffle/b/fused");
}

TEST_F(Import, TakesATimeForOneProblemOnly) {
  Record wide = timed_case("wide", "fused", 30);
  wide.info.shapes = "x=8x16 w=64x16";
  wide.info.params = "M=8 N=64";
  add(wide);
  EXPECT_THAT(refusal("op,shape,us\nshuffle,8x16,5\n"),
              HasSubstr("times.csv:2: it fits rows of different problems"));
  const RunReport report = import("op,shape,params,us\nshuffle,8x16,N=64,5\n");
  ASSERT_EQ(report.records.size(), 1U);
  EXPECT_EQ(report.records[0].info.id, "shuffle/wide/fused");
}

TEST_F(Import, NamesTimesWithoutARow) {
  import("id,us\nshuffle/a/fused,5\nshuffle/\x1b[31m,5\n");
  EXPECT_THAT(log(), HasSubstr("times.csv:3: the report has no timed row shuffle/"));
  EXPECT_THAT(log(), testing::Not(HasSubstr("\x1b")));
  EXPECT_EQ(refusal("id,us\nnowhere,5\n"), "importing times: none of them is of a timed row of the report");
  EXPECT_THAT(refusal("id,us\nshuffle/a/fused,5\nshuffle/a/fused,6\n"),
              HasSubstr("are of the same row shuffle/a/fused"));
}

}  // namespace
}  // namespace assay::app
