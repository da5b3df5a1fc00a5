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

using ::testing::EndsWith;
using ::testing::HasSubstr;

class TimesFile : public ::testing::Test {
 protected:
  std::vector<ForeignTime> read(const std::string& text) const {
    return read_times(folder_.write("t", text));
  }
  std::string refusal(const std::string& text) const {
    return test::error_of([&] { read(text); });
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(TimesFile, IsCsvWithAHeader) {
  const auto times = read("id,us,source\nop/a/x/auto,2.5,PyTorch\nop/b/x/auto,3,\n");
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].id, "op/a/x/auto");
  EXPECT_EQ(times[0].us, 2.5);
  EXPECT_EQ(times[0].source, "PyTorch");
  EXPECT_THAT(times[1].place, EndsWith("t:3"));
}

TEST_F(TimesFile, IsAJsonArrayOfObjects) {
  const auto times = read(
      R"( [{"op": "q8ta_add", "shape": "1x8x4x4", "params": "zero_point=3", "cache": "cold", "us": 2.25}])");
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].op, "q8ta_add");
  EXPECT_EQ(times[0].shape, "1x8x4x4");
  EXPECT_EQ(times[0].params, "zero_point=3");
  EXPECT_EQ(times[0].cache, "cold");
  EXPECT_EQ(times[0].us, 2.25);
  EXPECT_THAT(times[0].place, EndsWith("t: entry 1"));
}

/// Its first column was unknown, or the array was taken for CSV.
TEST_F(TimesFile, MayBeginWithAByteOrderMark) {
  const std::string mark = "\xEF\xBB\xBF";
  const auto of_csv = read(mark + "id,us\nop/a/x/auto,2.5\n");
  ASSERT_EQ(of_csv.size(), 1U);
  EXPECT_EQ(of_csv[0].id, "op/a/x/auto");
  EXPECT_THAT(of_csv[0].place, EndsWith("t:2"));
  const auto of_json = read(mark + R"([{"id": "a", "us": 2.5}])");
  ASSERT_EQ(of_json.size(), 1U);
  EXPECT_EQ(of_json[0].id, "a");
}

/// The last of them was taken, without a word.
TEST_F(TimesFile, HasNoColumnTwice) {
  EXPECT_THAT(refusal("id,us,us\na,1,2\n"), HasSubstr("t:1: the column 'us' is there twice"));
  EXPECT_THAT(refusal("id,us,source,id\na,1,x,b\n"), HasSubstr("t:1: the column 'id' is there twice"));
}

TEST_F(TimesFile, IsRefusedWithThePlaceOfWhatIsWrong) {
  EXPECT_THAT(refusal(""), HasSubstr("it has no time"));
  EXPECT_THAT(refusal("id,us\n"), HasSubstr("it has no time"));
  EXPECT_THAT(refusal("id,ms\na,1\n"),
              HasSubstr("t:1: 'ms' is no column; known are id, op, shape, params, cache, us"));
  EXPECT_THAT(refusal("id,us\na\n"), HasSubstr("t:2: it has 1 cells, the header has 2"));
  for (const char* us : {"", "fast", "0", "-1", "inf", "nan", "1e999", "1 "}) {
    EXPECT_THAT(refusal("id,us\na," + std::string(us) + "\n"),
                HasSubstr("t:2: us is '" + std::string(us) + "'"));
  }
  EXPECT_THAT(refusal("op,us\na,1\n"), HasSubstr("t:2: give either the id of a row, or op and shape"));
  EXPECT_THAT(refusal("id,op,shape,us\na,b,c,1\n"), HasSubstr("give either"));
  EXPECT_THAT(refusal("id,us,cache\na,1,warm\n"), HasSubstr("cache is 'warm'; it is hot, cold or empty"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("entry 1: it is no object"));
  EXPECT_THAT(refusal("[{"), HasSubstr("it is no JSON array of objects"));
  EXPECT_THAT(refusal(R"([{"id": [], "us": 1}])"), HasSubstr("entry 1: 'id' is neither text nor a number"));
}

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

  RunReport import(const std::string& text, const std::string& name = "PyTorch 2.11") {
    const Context context{registry_, {"assay", "import"}, {.version = "0.1.0"}};
    import_times({.file = folder_.write("times.csv", text),
                  .name = name,
                  .rows = folder_ / "ours",
                  .out = folder_ / "out"},
                 context, {out_, log_, log_});
    return read_journal(only_journal(folder_ / "out"));
  }
  std::string refusal(const std::string& text) {
    return test::error_of([&] { import(text); });
  }
  /// Gives the first of our rows these tunables.
  void tune(const std::string& values) { ours_.front().info.tune = values; }
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

TEST_F(Import, StandsBesideARowWithTunables) {
  tune("local_size=64");
  const RunReport report = import("id,us\nshuffle/a/fused,5\n");
  const std::vector<RunReport> both{ours(), report};
  EXPECT_THAT(pivot_text(make_pivot(both), {.width = 200, .all = true}), Not(HasSubstr("not compared")));
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

TEST_F(Import, TakesATimeForRowsWithEqualParamsOnly) {
  for (const std::string dtype : {"f16", "f32"}) {
    Record row = timed_case(dtype, "fused", 30);
    row.info.shape = "8x32";
    row.info.params = "dtype=" + dtype + " x=0.05:-3";
    add(row);
  }
  EXPECT_THAT(refusal("op,shape,us\nshuffle,8x32,5\n"),
              AllOf(HasSubstr("it fits rows of different problems"), HasSubstr(", dtype=f16)"),
                    HasSubstr(", dtype=f32)")));
  const RunReport report = import("op,shape,params,us\nshuffle,8x32,dtype=f32,5\n");
  ASSERT_EQ(report.records.size(), 1U);
  EXPECT_EQ(report.records[0].info.id, "shuffle/f32/fused");
}

TEST_F(Import, TakesATimeForRowsThatDifferInQuantization) {
  for (const std::string zero_point : {"3", "-4"}) {
    Record row = timed_case("by" + zero_point, "fused", 30);
    row.info.shape = "8x32";
    row.info.params = "n=2 x=0.05:" + zero_point;
    add(row);
  }
  EXPECT_EQ(import("op,shape,us\nshuffle,8x32,5\n").records.size(), 2U);
}

TEST_F(Import, NamesTimesWithoutARow) {
  import("id,us\nshuffle/a/fused,5\nshuffle/\x1b[31m,5\n");
  EXPECT_THAT(log(), HasSubstr("times.csv:3: the report has no timed row shuffle/"));
  EXPECT_THAT(log(), testing::Not(HasSubstr("\x1b")));
  EXPECT_EQ(refusal("id,us\nnowhere,5\n"), "importing times: none of them is of a timed row of the report");
  EXPECT_THAT(refusal("id,us\nshuffle/a/fused,5\nshuffle/a/fused,6\n"),
              HasSubstr("are of the same row shuffle/a/fused"));
}

TEST_F(Import, NeedsANameForTheDevice) {
  for (const char* name : {"", " "}) {
    EXPECT_THAT(test::error_of([&] { import("id,us\nshuffle/a/fused,5\n", name); }),
                HasSubstr("--as is blank; name what was measured"));
  }
}

TEST_F(Import, TellsWhyNoRowHasATime) {
  Record wide = timed_case("wide", "fused", 30);
  wide.info.shape = "8x32";
  wide.info.params = "M=8 N=64";
  add(wide);
  import(
      "op,shape,params,cache,us\nshuffle,8x16,,,5\nshuffle,9x9,,,5\nnone,8x16,,,5\nshuffle,8x16,,cold,5\n"
      "shuffle,8x32,M=8 N=17,hot,5\n");
  EXPECT_THAT(log(),
              HasSubstr("times.csv:3: the report has no timed row of shuffle with shape 9x9: its timed "
                        "rows of shuffle have the shapes 8x16, 8x32\n"));
  EXPECT_THAT(log(), HasSubstr("times.csv:4: the report has no timed row of none\n"));
  EXPECT_THAT(log(), HasSubstr("times.csv:5: no timed row of shuffle with shape 8x16 is cold: "
                               "shuffle/b/fused is hot\n"));
  EXPECT_THAT(log(),
              HasSubstr("times.csv:6: no hot timed row of shuffle with shape 8x32 has all of its params: "
                        "shuffle/wide/fused has 'M=8 N=64', not N=17\n"));
}

}  // namespace

}  // namespace assay::app
