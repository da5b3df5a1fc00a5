#include "harness/report/record/events.h"

#include "harness/base/statistics.h"
#include "harness/report/journal/report_builder.h"
#include "harness/report/record/record.h"
#include "harness/report/record/words.h"
#include "tests/support/simulated_series.h"
#include "tests/support/tell.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

Record through_events(const Record& record) {
  ReportBuilder builder;
  test::tell(builder, {record});
  return builder.report().records.at(0);
}

TEST(RecordOf, ComputesTheTimeFromTheBlocks) {
  PerfResult perf;
  perf.sets = 3;
  describe_blocks(std::vector<Block>{{.round = 0, .batch = 4, .samples_ns = {4000, 8000}},
                                     {.round = 1, .batch = 4, .samples_ns = {8000, 16000}}},
                  perf);
  EXPECT_EQ(perf.sample_us, (test::Series{{1, 2}, {2, 4}}));
  EXPECT_EQ(perf.time_us_min, 1);
  EXPECT_EQ(perf.time_us_p25, 1.75);
  EXPECT_EQ(perf.time_us_p50, 2);
  EXPECT_EQ(perf.time_us_p75, 2.5);
  EXPECT_EQ(perf.time_us_mean, 2.25);
  EXPECT_NEAR(perf.time_us_stdev, 1.258305739, 1e-9);
  EXPECT_EQ(perf.spread_pct, 75) << "medians 1.5 and 3, of the median 2";
  EXPECT_NEAR(perf.ci_pct, 100.0 / 3, 1e-9) << "half of 1.5, of the blocks' median 2.25";
  EXPECT_EQ(perf.blocks, 2);
  EXPECT_EQ(perf.samples, 4);
  EXPECT_EQ(perf.batch, 4);
  EXPECT_EQ(perf.sets, 3) << "what the end told stays";
}

TEST(RecordOf, WithoutASampleThereIsNoTime) {
  PerfResult perf;
  describe_blocks({}, perf);
  EXPECT_EQ(perf.blocks, 0);
  EXPECT_EQ(perf.time_us_p50, 0);
}

TEST(RecordOf, IsTheRecordWhoseEventsWereTold) {
  Record record = test::measured("a", {{100.125, 101}, {100.25, 102, 1.0 / 3}});
  record.accuracy = test::passed("a").accuracy;
  record.validation_messages = 3;
  record.validation_texts = {"a hazard", "another"};
  record.spent = TimeSpent{.judging_ms = 1.5};
  record.retry = "REPRODUCED";
  record.stopped = true;
  const Record back = through_events(record);
  EXPECT_EQ(back.info.id, record.info.id);
  EXPECT_EQ(back.status, record.status);
  EXPECT_EQ(back.accuracy->output_hash, record.accuracy->output_hash);
  EXPECT_EQ(back.perf->output_hash, record.accuracy->output_hash) << "timed outputs equal the judged ones";
  EXPECT_EQ(back.perf->time_us_p50, record.perf->time_us_p50);
  EXPECT_EQ(back.perf->sample_us, record.perf->sample_us) << "bit by bit";
  EXPECT_EQ(back.perf->program_hash, record.perf->program_hash);
  EXPECT_EQ(back.validation_messages, 3);
  EXPECT_EQ(back.validation_texts, record.validation_texts);
  EXPECT_EQ(back.spent->judging_ms, 1.5);
  EXPECT_EQ(back.retry, "REPRODUCED");
  EXPECT_TRUE(back.stopped);
  EXPECT_EQ(back.repro, repro_line({}, record.info));
}

RowInfo row() {
  RowInfo info = test::sample_case("small");
  info.id = "flip/small/plain";
  info.where.file = "cases/flip.yaml";
  return info;
}

TEST(ReproLine, IsACommandForThisRowAlone) {
  EXPECT_EQ(repro_line({}, row()), "assay run cases/flip.yaml --filter 'flip/small/plain' --mode accu");
  RunInfo run;
  run.repro_options = "--device '1'";
  EXPECT_EQ(repro_line(run, row()),
            "assay run cases/flip.yaml --filter 'flip/small/plain' --mode accu --device '1'");
}

TEST(ReproLine, NamesTheCaseAndTheShadersOfTheRow) {
  RowInfo info = row();
  info.id = "flip/small/plain/cold/versus";
  info.mode = "perf";
  info.cache = "cold";
  info.versus = true;
  info.shaders = "other";
  EXPECT_EQ(repro_line({}, info),
            "assay run cases/flip.yaml --filter 'flip/small/plain' --mode perf --shaders other");
  info.versus = false;
  info.cache = "hot";
  EXPECT_EQ(repro_line({}, info),
            "assay run cases/flip.yaml --filter 'flip/small/plain/cold/versus' --mode perf --shaders other")
      << "the id that the case has in its file";
  info.shaders = "it's";
  EXPECT_THAT(repro_line({}, info), testing::EndsWith(R"( --shaders 'it'\''s')"));
}

TEST(ReproLine, DoesNotLetAFileNameBeAnOption) {
  RowInfo info = row();
  info.where.file = "-x.yaml";
  EXPECT_EQ(repro_line({}, info), "assay run ./-x.yaml --filter 'flip/small/plain' --mode accu");
}

TEST(ReproLine, QuotesAFileNameThatAShellWouldTakeApart) {
  RowInfo info = row();
  info.where.file = "my cases/it's.yaml";
  EXPECT_EQ(repro_line({}, info),
            "assay run 'my cases/it'\\''s.yaml' --filter 'flip/small/plain' --mode accu");
}

TEST(ReplayText, SaysHowOftenAndWhen) {
  Replay replay{.runs = 60, .wrong = 7, .hot_runs = 30, .hot_wrong = 5};
  replay.answers = {{.hash = "0123456789abcdef", .right = true, .runs = 53},
                    {.hash = "fedcba9876543210", .right = false, .runs = 6},
                    {.hash = "aaaa", .right = false, .runs = 1}};
  EXPECT_EQ(
      replay_text(replay),
      "wrong in 7 of 60 runs (11.7 %, 95 % interval 5.8 to 22.2 %): 5 of 30 on a busy device, 2 of 30 on "
      "a rested one; 3 different answers: 0123456789ab in 53 runs, fedcba987654 in 6 runs (wrong), aaaa in "
      "1 run (wrong)");
  EXPECT_TRUE(varies(replay));
}

TEST(ReplayText, SaysWhatManyRightRunsProve) {
  Replay replay{.runs = 60, .hot_runs = 30, .answers = {{.hash = "01", .right = true, .runs = 60}}};
  EXPECT_EQ(replay_text(replay), "right in all 60 runs: at most 4.9 % of runs are wrong (95 %)");
  EXPECT_FALSE(varies(replay));
  replay.answers.push_back({.hash = "02", .right = true, .runs = 1});
  EXPECT_TRUE(varies(replay)) << "two right answers that differ are a finding as well";
  replay.answers.back().runs = 0;
  EXPECT_EQ(replay_text(replay),
            "right in all 60 runs: at most 4.9 % of runs are wrong (95 %); 2 different answers: 01 in 60 "
            "runs, 02 in "
            "the run before");
}

}  // namespace

}  // namespace assay
