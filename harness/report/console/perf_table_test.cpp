#include "harness/report/console/perf_table.h"

#include "tests/support/records.h"
#include "tests/support/report_text.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PerfTable, IsEmptyWithoutPerfCases) {
  EXPECT_EQ(perf_table(test::report_of({test::passed("a")}), false), "");
}

TEST(PerfTable, GroupsByOpShapeAndParameters) {
  Record wide = test::timed("wide", "fused", 8);
  wide.info.shape = "1x96x128x72";
  wide.info.forms = "x=texture3d/CP y=buffer/WP";
  wide.info.tune = "local_size=128";
  wide.perf->operations = 1600000;
  wide.perf->pct_peak_ops = 40;
  wide.perf->limited_by = "operations";
  wide.perf->stop = "budget";
  wide.perf->clock = "wall";
  wide.perf->verified = false;
  Record suspect = wide;
  suspect.info.impl = "magic";
  suspect.status = Status::Suspect;
  suspect.perf->time_us_p50 = 4;
  Record lost = wide;
  lost.info.impl = "lost";
  lost.status = Status::Timeout;
  const RunReport report = test::report_of(
      {lost, wide, test::timed("small", "fused", 2), suspect, test::timed("small", "unfused", 3)});
  EXPECT_TRUE(test::matches(
      perf_table(report, false),
      R"(  impl                    forms                median us     +-  GB/s  GOP/s  % ceiling   time
shuffle  all rows: upscale_factor=2
shuffle  1x96x128x72
  lost [local_size=128]   x=texture3d/CP y=WP          -                                        TIMEOUT
  fused [local_size=128]  x=texture3d/CP y=WP       8.00  0.8 %  1.00  200.0       40.0  1.00x  imprecise, stopped by the time budget, wall clock, not verified
  magic [local_size=128]  x=texture3d/CP y=WP       4.00  0.8 %  2.00  400.0       40.0  0.50x  SUSPECT, imprecise, stopped by the time budget, wall clock, not verified
shuffle  1x16x4x8
* fused                   x=4W4C y=4C1W             2.00  0.8 %  4.00              12.5  1.00x  imprecise
  unfused                 x=4W4C y=4C1W             3.00  0.8 %  2.67              12.5  1.50x  imprecise
)"));
}

TEST(PerfTable, LeavesOutTheCeilingWhereNoneIsKnown) {
  Record record = test::timed("a", "fused", 2);
  record.perf->pct_peak_bw = 0;
  EXPECT_THAT(perf_table(test::report_of({record}), false), Not(HasSubstr("ceiling")));
}

TEST(PerfTable, NotesWhatSpeaksAgainstATime) {
  Record record = test::timed("a", "fused", 2);
  record.perf->timer = "coarse";
  record.perf->discarded = 3;
  record.perf->suspect = "8000 bytes in 2 us are too much";
  const std::string table = perf_table(test::report_of({record}), false);
  EXPECT_THAT(table,
              HasSubstr("1.00x  imprecise, coarse timer, 3 samples discarded, too fast for the device\n"));
  record.perf->blocks = 5;
  EXPECT_THAT(perf_table(test::report_of({record}), false), HasSubstr("1.00x  coarse timer")) << "enough";
  record.perf->timer = "broken";
  EXPECT_THAT(perf_table(test::report_of({record}), false), HasSubstr("broken timer"));
}

TEST(PerfTable, GivesColdRowsAGroupOfTheirOwn) {
  Record cold = test::timed("a", "fused", 3);
  cold.info.cache = "cold";
  const std::string table = perf_table(test::report_of({test::timed("a", "fused", 2), cold}), false);
  EXPECT_THAT(table, HasSubstr("shuffle  1x16x4x8\n"));
  EXPECT_THAT(table, HasSubstr("shuffle  1x16x4x8  cold\n"));
  EXPECT_THAT(table, Not(HasSubstr("1.50x")));
}

TEST(PerfTable, MarksTheTunePointThatWon) {
  std::vector<Record> records;
  for (const double us : {3.0, 2.0, 2.5}) {
    records.push_back(test::timed("swept", "fused", us));
    records.back().info.tune = "local_size=" + std::to_string(records.size() * 32);
  }
  const std::string table = perf_table(test::report_of(records), false);
  EXPECT_THAT(table, HasSubstr("\n  fused [local_size=32] "));
  EXPECT_THAT(table, HasSubstr("\n* fused [local_size=64] "));
  EXPECT_THAT(table, HasSubstr("\n  fused [local_size=96] "));
}

TEST(PerfTable, MarksNoWinnerWhereNothingWasBeaten) {
  EXPECT_THAT(perf_table(test::report_of({test::timed("alone", "fused", 2)}), false), Not(HasSubstr("*")));
  Record failed = test::timed("a", "unfused", 1);
  failed.status = Status::Fail;
  EXPECT_THAT(perf_table(test::report_of({test::timed("a", "fused", 2), failed}), false),
              Not(HasSubstr("*")));
}

TEST(PerfTable, LetsNoSuspectOrUnverifiedTimeWin) {
  Record suspect = test::timed("a", "magic", 1);
  suspect.status = Status::Suspect;
  Record unverified = test::timed("a", "hasty", 1.5);
  unverified.perf->verified = false;
  const std::string table =
      perf_table(test::report_of({suspect, unverified, test::timed("a", "fused", 2)}), false);
  EXPECT_THAT(table, HasSubstr("\n* fused "));
  EXPECT_THAT(table, HasSubstr("\n  magic "));
  EXPECT_THAT(table, HasSubstr("\n  hasty "));
}

Record with_params(const std::string& op, const std::string& shape, const std::string& params) {
  Record record = test::timed("a", "fused", 2);
  record.info.op = op;
  record.info.shape = shape;
  record.info.params = params;
  return record;
}

TEST(PerfTable, HeadsGroupsWithWhatTellsThemApart) {
  const std::string table =
      perf_table(test::report_of({with_params("quantize", "4x8", "block=1x-1 dtype=f32 shape=4x8"),
                                  with_params("quantize", "4x8", "block=1x4 dtype=f32 shape=4x8"),
                                  with_params("shuffle", "1x4", "factor=2"),
                                  with_params("quantize", "2x8", "block=1x4 dtype=f32 round=up shape=2x8")}),
                 false);
  EXPECT_TRUE(test::matches(table, R"(%any
quantize  all rows: dtype=f32
quantize  4x8  block=1x-1
%any
quantize  4x8  block=1x4
%any
shuffle  all rows: factor=2
shuffle  1x4
%any
quantize  2x8  block=1x4 round=up
%any
)"));
}

TEST(PerfTable, KeepsAShapeParameterThatIsNotTheShapeShown) {
  const std::string table = perf_table(
      test::report_of({with_params("view", "4x8", "shape=8x4"), with_params("view", "4x8", "shape=32")}),
      false);
  EXPECT_THAT(table, HasSubstr("view  4x8  shape=8x4\n"));
  EXPECT_THAT(table, HasSubstr("view  4x8  shape=32\n"));
}

TEST(PerfTable, NeverMakesTwoGroupsLookAlike) {
  // Values with blanks: by their words alone these would all be "cut  4".
  const std::string table =
      perf_table(test::report_of({with_params("cut", "4", "how=a b a"), with_params("cut", "4", "how=a b"),
                                  with_params("cut", "4", "how=a  b")}),
                 false);
  EXPECT_THAT(table, HasSubstr("cut  4  how=a b a\n"));
  EXPECT_THAT(table, HasSubstr("cut  4  how=a b\n"));
  EXPECT_THAT(table, HasSubstr("cut  4  how=a  b\n"));
}

TEST(PerfTable, TellsRowsApartThatWouldLookTheSame) {
  Record zeros = test::timed("zeros", "fused", 4);
  zeros.info.fill = "x=zero";
  const std::string table = perf_table(test::report_of({test::timed("normal", "fused", 2), zeros}), false);
  EXPECT_THAT(table, HasSubstr("shuffle  1x16x4x8  (normal, x=normal)\n"));
  EXPECT_THAT(table, HasSubstr("shuffle  1x16x4x8  (zeros, x=zero)\n"));
  EXPECT_THAT(table, Not(HasSubstr("2.00x"))) << "different data are not compared";
}

}  // namespace
}  // namespace assay
