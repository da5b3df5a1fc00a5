#include "harness/report/devices/model_steps.h"
#include "harness/report/writers/columns.h"
#include "tests/support/records.h"
#include "tests/support/report_text.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Record layer_row(const std::string& layer, const std::string& impl, double median_us,
                 const std::string& params) {
  Record record = test::timed(layer, impl, median_us);
  record.info.id = "linear/" + layer + '/' + impl;
  record.info.op = "linear";
  record.info.name = "decode";
  record.info.model = "llama";
  record.info.layer = layer;
  record.info.calls = 16;
  record.info.tokens = 1;
  record.info.params = params;
  if (impl == "auto") record.perf->impl_auto = "gemv";
  return record;
}

/// A step that is complete: 16 x 10 us and 16 x 30 us.
std::vector<Record> whole_step() {
  Record up = layer_row("mlp.up", "auto", 10, "K=8 N=16 group=32");
  Record down = layer_row("mlp.down", "auto", 30, "K=16 N=8 group=32");
  down.perf->pct_peak_ops = 61;
  down.perf->limited_by = "operations";
  return {up, down};
}

std::string steps_markdown_of(std::vector<Record> records) {
  const RunReport report = test::report_of(std::move(records));
  const std::vector<ModelSteps> steps = {model_steps(report)};
  return steps_markdown(steps);
}

std::string csv_of(std::vector<Record> records) {
  const RunReport report = test::report_of(std::move(records));
  const std::vector<ModelSteps> steps = {model_steps(report)};
  return steps_csv(steps);
}

TEST(ModelStepsMarkdown, ShowsStepsLayersAndWhatNoSumHas) {
  EXPECT_EQ('\n' + steps_markdown_of(whole_step()), R"(
## Acme GPU 9

Acme 12.3, assay 0.1.0+b1a8850ccc06, 2026-01-02T03:04:05Z

| model | tokens | context | op       | setting | ms per step | at ceilings, ms | per s | missing |
| ----- | -----: | ------: | -------- | ------- | ----------: | --------------: | ----: | ------- |
| llama |      1 |         | `linear` | i8, hot |       0.640 |           0.313 |  1562 |         |

### llama, 1 token: `linear`, i8, hot

All layers: `group=32`

| layer      | calls | parameters | impl       | time, us | calls x time, ms | % of sum | % ceiling |
| ---------- | ----: | ---------- | ---------- | -------: | ---------------: | -------: | --------: |
| `mlp.up`   |    16 | K=8 N=16   | auto: gemv |    10.00 |            0.160 |     25.0 |      12.5 |
| `mlp.down` |    16 | K=16 N=8   | auto: gemv |    30.00 |            0.480 |     75.0 |      61.0 |
| sum        |       |            |            |          |            0.640 |          |           |

0.640 ms per step, 1562 tokens/s. Every layer of the model in the report is in the sum.

Only timed rows that name a `layer` are summed, here rows of `linear`. What no such row computes is in no sum:
attention, norms and the output head have rows where the cases are those of `assay model`. So tokens/s counts
the summed layers only. Each sum adds medians of programs timed one by one.
)");
}

TEST(ModelStepsMarkdown, SaysOfWhichKindTheRunIs) {
  RunReport report = test::report_of(whole_step());
  report.run.validation = true;
  const std::vector<ModelSteps> steps = {model_steps(report)};
  EXPECT_THAT(steps_markdown(steps),
              HasSubstr(", 2026-01-02T03:04:05Z, with the validation layer (--validation)\n"));
}

TEST(ModelStepsMarkdown, NamesChainsBesideTheSums) {
  std::vector<Record> records = whole_step();
  Record chain = layer_row("", "auto", 70, "");
  chain.info.id = "block/decode/WP/optimal";
  chain.info.calls = 16;
  chain.chain.emplace();
  chain.perf->dispatches = {{.label = "a/x", .role = "op", .time_us = 80.5}};
  records.push_back(chain);
  EXPECT_THAT(
      steps_markdown_of(records),
      HasSubstr("\nChains, each timed from end to end as one program; they are in no sum:\n\n"
                "- `block/decode/WP/optimal`: 70.00 us, its dispatches one by one 80.50 us; 16 calls, "
                "1.120 ms per step\n"));
}

TEST(ModelStepsMarkdown, NamesChainsThatHaveNoTime) {
  std::vector<Record> records = whole_step();
  Record chain = layer_row("", "auto", 70, "");
  chain.info.id = "block/decode/WP/optimal";
  chain.chain.emplace();
  chain.status = Status::Fail;
  chain.reason = "3 of 8 elements are wrong";
  records.push_back(chain);
  EXPECT_THAT(steps_markdown_of(records),
              HasSubstr("\nChains, each timed from end to end as one program; they are in no sum:\n\n"
                        "- `block/decode/WP/optimal`: FAIL: 3 of 8 elements are wrong\n"));
}

TEST(ModelStepsMarkdown, SaysWhatIsMissingFromASumAndThatItIsABound) {
  std::vector<Record> records = whole_step();
  records[1].status = Status::Fail;
  records[1].reason = "wrong value\nand more";
  Record uncounted = layer_row("head", "auto", 1, "K=8 N=99 group=32");
  uncounted.info.calls = 0;
  records.push_back(uncounted);
  records.push_back(layer_row("attn.q", "auto", 5, "K=8 N=8 group=32"));
  records.back().info.tokens = 512;
  const std::string text = steps_markdown_of(records);
  EXPECT_THAT(
      text,
      HasSubstr("| at least 0.160 |  at least 0.020 |    at most 6250 | `mlp.down`, `head`, `attn.q` |"));
  EXPECT_THAT(text, HasSubstr("| `mlp.down` |    16 | K=16 N=8   | auto: gemv |     FAIL |"));
  EXPECT_THAT(text,
              HasSubstr("\nAt least 0.160 ms per step, at most 6250 tokens/s. Missing from the sum:\n\n"
                        "- `mlp.down`: FAIL: wrong value\n"
                        "- `head`: its row does not say how often a step calls it (`calls`)\n"
                        "- `attn.q`: no timed row; the report has the layer in `linear/attn.q/auto`\n"));
}

TEST(ModelStepsMarkdown, HasNoSumWhereNothingPassed) {
  std::vector<Record> records = whole_step();
  for (Record& record : records) record.status = Status::Suspect;
  const std::string text = steps_markdown_of(records);
  EXPECT_THAT(text, HasSubstr("There is no sum, as no layer has a time. Missing:\n\n- `mlp.up`: SUSPECT\n"));
  EXPECT_THAT(text, Not(HasSubstr("tokens/s.")));
  EXPECT_THAT(text, Not(HasSubstr("% ceiling")));
}

TEST(ModelStepsMarkdown, SaysWhichOfSeveralRowsCounts) {
  std::vector<Record> records = whole_step();
  records.push_back(layer_row("mlp.up", "gemv", 9, "K=8 N=16 group=32"));
  records[1].status = Status::Timeout;
  records[1].reason = "took 3 s";
  records.push_back(layer_row("mlp.down", "tiled", 40, "K=16 N=8 group=32"));
  records.push_back(layer_row("mlp.down", "gemv", 50, "K=16 N=8 group=32"));
  EXPECT_THAT(steps_markdown_of(records),
              HasSubstr("\nLayers with several rows:\n\n"
                        "- `mlp.up`: 2 rows; `auto` counts\n"
                        "- `mlp.down`: 3 rows; `tiled` counts, the fastest that passed; `auto` is TIMEOUT: "
                        "took 3 s\n"));
}

TEST(ModelStepsMarkdown, SaysThatTheFastestRowOfImplAutoCounts) {
  std::vector<Record> records = whole_step();
  records.push_back(layer_row("mlp.up", "auto", 9, "K=8 N=16 group=32"));
  records.back().info.forms = "x=texture3d/CP";
  EXPECT_THAT(steps_markdown_of(records),
              HasSubstr("\n- `mlp.up`: 2 rows; `auto` counts, the fastest such row\n"));
}

TEST(ModelStepsMarkdown, NamesTheRowsThatAreInNoSum) {
  std::vector<Record> records = whole_step();
  for (int i = 0; i < 2; ++i) records.push_back(layer_row("", "auto", 9, ""));
  EXPECT_THAT(steps_markdown_of(records),
              HasSubstr("\nTimed rows of models that are in no sum, as they name no layer:\n\n"
                        "- `linear/decode`, 2 rows\n"));
}

TEST(ModelStepsMarkdown, ShowsWhatEachOfSeveralOpsAdds) {
  std::vector<Record> records = whole_step();
  records.push_back(layer_row("norm", "auto", 40, ""));
  records.back().info.op = "norm";
  records.back().perf->pct_peak_bw = 50;
  EXPECT_THAT(steps_markdown_of(records),
              HasSubstr("\n| op       | layers | ms per step | % of sum | to gain at ceilings, ms |\n"
                        "| -------- | -----: | ----------: | -------: | ----------------------: |\n"
                        "| `linear` |      2 |       0.640 |     50.0 |                   0.327 |\n"
                        "| `norm`   |      1 |       0.640 |     50.0 |                   0.320 |\n"));
}

TEST(ModelStepsMarkdown, NamesTheContextOfAStepAndWhatLacksIt) {
  std::vector<Record> records = whole_step();
  for (const char* position : {"127", "4095"})
    records.push_back(layer_row("attn.sdpa", "auto", 5, std::string("start_pos=") + position));
  records.push_back(layer_row("attn.turn", "auto", 5, "start_pos=127"));
  for (std::size_t i = 2; i < records.size(); ++i) records[i].info.op = records[i].info.layer;
  const std::string text = steps_markdown_of(records);
  EXPECT_THAT(text, HasSubstr("\n| llama |      1 |     128 | `linear + attn.sdpa + attn.turn` |"));
  EXPECT_THAT(text, HasSubstr("\n### llama, 1 token at context 4096: "));
  EXPECT_THAT(text, HasSubstr("- `attn.turn`: no timed row at context 4096; the report has the layer in "));
  EXPECT_THAT(csv_of(records), HasSubstr("Acme GPU 9,llama,1,4096,linear + attn.sdpa,i8,hot,"));
}

TEST(ModelStepsMarkdown, SaysThatCeilingsAreUnknown) {
  std::vector<Record> records = whole_step();
  records.push_back(layer_row("norm", "auto", 40, ""));
  records.back().info.op = "norm";
  for (Record& record : records) record.perf->pct_peak_bw = record.perf->pct_peak_ops = 0;
  const std::string text = steps_markdown_of(records);
  EXPECT_THAT(text, HasSubstr("|       1.280 |         unknown |   781 |         |"));
  EXPECT_THAT(text, HasSubstr("| `norm`   |      1 |       0.640 |     50.0 |                 unknown |"));
  EXPECT_THAT(csv_of(records), HasSubstr(",40.0000,640.0000,,,1280.0000,true"));
}

TEST(ModelStepsMarkdown, CountsStepsWhereAModelHasNoTokens) {
  std::vector<Record> records = whole_step();
  for (Record& record : records) record.info.tokens = 0;
  const std::string text = steps_markdown_of(records);
  EXPECT_THAT(text, HasSubstr("\n### llama, one run: `linear`, i8, hot\n"));
  EXPECT_THAT(text, HasSubstr("\n0.640 ms per step, 1562 steps/s."));
}

TEST(ModelStepsMarkdown, SaysThatAReportHasNone) {
  const std::string text = steps_markdown_of({test::timed("a", "fused", 1)});
  EXPECT_THAT(text, StartsWith("## Acme GPU 9\n"));
  EXPECT_THAT(text, EndsWith("\nNo timed row names a layer of a model.\n"));
}

TEST(ModelStepsCsv, HasALineForEachLayer) {
  std::vector<Record> records = whole_step();
  records[1].status = Status::Fail;
  records[1].reason = "wrong";
  records.push_back(layer_row("head", "auto", 5, ""));
  records.back().info.tokens = 2;
  const std::string step = "Acme GPU 9,llama,1,,linear,i8,hot,,,group=32,";
  EXPECT_THAT(
      csv_of(records),
      StartsWith(
          "device,model,tokens,context,op,dtype,cache,shaders,settings,params,layer,layer_op,calls,"
          "layer_params,case,rows,impl,impl_auto,status,reason,time_us_p50,step_us,pct_peak,gain_us,sum_us,"
          "complete"
          "\r\n" +
          step + "mlp.up,linear,16,K=8 N=16,linear/mlp.up/auto,1,auto,gemv,PASS,,10.0000,160.0000," +
          "12.50,140.0000,160.0000,false\r\n" + step +
          "mlp.down,linear,16,K=16 N=8,linear/mlp.down/auto,1,auto,,FAIL,wrong,,,,,160.0000,false\r\n" +
          step + "head,,,,,0,,,,,,,,,160.0000,false\r\n"));
}

TEST(ModelSteps, KeepTheirTablesWholeWhateverTheTextIs) {
  std::vector<Record> records = whole_step();
  for (Record& record : records) {
    RowInfo& info = record.info;
    info.id = info.impl = info.tune = info.op = info.model = info.params = info.dtype = test::nasty + "|`";
    info.layer += info.id;
  }
  records[0].status = Status::Fail;
  records[0].reason = test::nasty;
  for (const std::string& line : test::lines_of(steps_markdown_of(records))) {
    EXPECT_EQ(line.find_first_of("\x1b\r\x7f"), line.npos) << line;
    EXPECT_TRUE(!line.starts_with('|') || line.ends_with(" |")) << line;
  }
  EXPECT_EQ(valid_utf8(csv_of(records)), csv_of(records));
}

TEST(ModelStepsCsv, IsDescribedWhereReportsAre) {
  std::vector<Column> columns;
  for (const StepColumn& column : step_columns())
    columns.push_back({column.name, column.unit, column.meaning, {}});
  EXPECT_THAT(test::read_file(std::string(ASSAY_SOURCE_DIR) + "/reports/README.md"),
              HasSubstr("\n### Columns of `assay summary --csv`\n\n" + markdown_table(columns) + "\n"));
}

}  // namespace

}  // namespace assay
