#include "harness/report/devices/overview.h"

#include "tests/support/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::size_t width = 80;

RunReport report_on(const std::string& device, std::vector<Record> records) {
  RunReport report = test::report_of(std::move(records));
  report.run.device.name = device;
  report.run.device.uuid = "uuid of " + device;
  return report;
}

Record layer(const std::string& name, std::int64_t tokens, double time_us, std::int64_t calls = 10) {
  Record record = test::timed(name + std::to_string(tokens), "auto", time_us);
  record.info.op = "linear";
  record.info.model = "llama";
  record.info.layer = name;
  record.info.tokens = tokens;
  record.info.calls = calls;
  record.info.dtype = "i8";
  return record;
}

void expect_fits(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), width) << line;
}

TEST(Overview, ShowsOfOneReportHowItEndedAndItsShareOfCeilings) {
  Record half = test::passed("half");
  half.accuracy->err_over_bound = 0.5;
  Record fast = test::timed("fast", "fused", 2.5);
  fast.info.op = "view";
  fast.perf->pct_peak_bw = 90;
  const std::vector<RunReport> reports = {
      report_on("Acme", {half, test::failed("wrong"), test::timed("slow", "fused", 10), fast})};
  const std::string text = overview_text(reports, width);
  EXPECT_THAT(text, StartsWith("Acme, Acme 12.3\nrun 20260102T030405Z-1a2b3c, assay"));
  EXPECT_THAT(text, HasSubstr("\n4 rows: 3 PASS, 1 FAIL\n  FAIL  shuffle/wrong"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "largest error/bound of the rows that passed: 0.5\n  shuffle/half/1x16x4x8/4W4C.4W4C/fused\n"));
  EXPECT_THAT(text, HasSubstr("\n      1       12.5   12.5        10.00  shuffle\n"
                              "      1       90.0   90.0         2.50  view\n"));
  expect_fits(text);
}

TEST(Overview, OfOneReportFitsAScreenHoweverManyOpsAndFailures) {
  std::vector<Record> records;
  for (int i = 0; i < 30; ++i) {
    records.push_back(test::timed("t", "fused", i + 1.0));
    records.back().info.op = "op" + std::to_string(i);
    records.push_back(test::failed("wrong" + std::to_string(i)));
  }
  const std::string text = overview_text(std::vector{report_on("Acme", records)}, width);
  EXPECT_LE(std::ranges::count(text, '\n'), 30);
  EXPECT_THAT(text, HasSubstr("\n  and 27 more: assay show REPORT --worst\n"));
  EXPECT_THAT(text,
              HasSubstr("\n  and 18 more ops, closer to their ceilings: assay show REPORT --group op\n"));
}

TEST(Overview, ComparesDevicesWithTheFirst) {
  const std::vector<RunReport> reports = {
      report_on("A", {test::timed("a", "fused", 10), test::timed("b", "fused", 10), test::failed("wrong")}),
      report_on("B", {test::timed("a", "fused", 5), layer("up", 1, 100)})};
  const std::string text = overview_text(reports, width);
  EXPECT_THAT(text, HasSubstr("\n  rows  failed  timed  % ceiling  time  of rows  device\n"
                              "     3       1      2       12.5    1x        2  A\n"
                              "     2       0      2       12.5  0.5x        1  B\n"));
  EXPECT_THAT(text, HasSubstr("\n     A     B  op\n  12.5  12.5  shuffle\n"));
  EXPECT_THAT(text, HasSubstr("\n        1.000       1  B       llama, linear\n"));
  expect_fits(text);
}

TEST(Overview, TellsTwoDevicesOfOneNameApartAndWritesLargeRatiosWithoutAnExponent) {
  const std::vector<RunReport> reports = {
      report_on("NVIDIA H100 80GB HBM3", {test::timed("a", "fused", 1)}),
      report_on("NVIDIA H100 80GB HBM3", {test::timed("a", "fused", 1740)})};
  const std::string text = overview_text(reports, width);
  EXPECT_THAT(text, HasSubstr("\n  H100 80G... #1  H100 80G... #2  op\n"));
  EXPECT_THAT(text, HasSubstr("  1740x        1  H100 80GB HBM3 #2\n"));
  expect_fits(text);
}

TEST(Overview, KeepsRunsOfDifferentKindsApartAndSaysSo) {
  std::vector<RunReport> reports;
  for (const char* device : {"A", "B", "C"}) reports.push_back(report_on(device, {layer("up", 1, 100)}));
  reports[1].run.robust_access = true;
  const std::string text = overview_text(reports, 200);
  EXPECT_THAT(text, HasSubstr("\n     1       0      1       12.5    1x        1  A\n"
                              "     1       0      1       12.5                 B, with robust access "
                              "(--robust-access)\n"
                              "     1       0      1       12.5    1x        1  C\n"
                              "figures of runs of different kinds are not compared. A, C: plain; B: with "
                              "robust access (--robust-access)\n"));
  EXPECT_THAT(text,
              HasSubstr("\nmedian % of the ceiling, for ops timed on several devices (rows may differ)\n"
                        "     A     C  op\n  12.5  12.5  linear\n"
                        "\nmedian % of the ceiling by op, with robust access (--robust-access)\n"
                        "     B  op\n  12.5  linear\n"));
  EXPECT_THAT(text, HasSubstr("\nsteps of models, with the fastest op of each; --model NAME shows all\n"
                              "  ms per step  tokens  device  model and op\n"
                              "        1.000       1  A       llama, linear\n"
                              "        1.000       1  C       llama, linear\n"
                              "\nsteps of models, with robust access (--robust-access), with the fastest op "
                              "of each; --model NAME shows all\n"
                              "  ms per step  tokens  device  model and op\n"
                              "        1.000       1  B       llama, linear\n"));
}

TEST(Overview, ShowsTheSharesOfTwoRunsOfDifferentKinds) {
  std::vector<RunReport> reports = {report_on("A", {layer("up", 1, 100)}),
                                    report_on("B", {layer("up", 1, 100)})};
  reports[1].run.robust_access = true;
  const std::string text = overview_text(reports, width);
  EXPECT_THAT(text, HasSubstr("\nmedian % of the ceiling by op\n     A  op\n  12.5  linear\n"
                              "\nmedian % of the ceiling by op, with robust access (--robust-access)\n"
                              "     B  op\n  12.5  linear\n"));
  expect_fits(text);
}

TEST(Overview, ShowsTheSharesOfOneDeviceWhereNoMoreFit) {
  std::vector<RunReport> reports;
  for (const char* device : {"A", "B", "C"}) reports.push_back(report_on(device, {layer("up", 1, 100)}));
  EXPECT_THAT(overview_text(reports, 60), HasSubstr("\nmedian % of the ceiling by op\n     A  op\n"
                                                    "  12.5  linear\n  and 2 more devices\n"));
}

TEST(Overview, SaysHowManyCasesHaveOtherTunables) {
  std::vector<RunReport> reports;
  for (const char* device : {"A", "B"}) reports.push_back(report_on(device, {test::timed("a", "fused", 10)}));
  const std::string sentence = "\n1 case is not compared: tunables differ between the devices\n";
  EXPECT_THAT(overview_text(reports, width), Not(HasSubstr(sentence)));
  reports[1].records[0].info.tuned = "local_size=64 (line 3)";
  EXPECT_THAT(overview_text(reports, width), HasSubstr(sentence));
}

TEST(Overview, OfOneReportSaysOfWhichKindTheRunIs) {
  std::vector<RunReport> reports = {report_on("A", {layer("up", 1, 100)})};
  reports[0].run.validation = true;
  EXPECT_THAT(overview_text(reports, 200),
              HasSubstr("\nrun 20260102T030405Z-1a2b3c, with the validation layer (--validation), assay"));
}

TEST(Overview, PrefersTheStepOfWhichTheMostLayersHaveATime) {
  Record other_op = layer("up", 1, 20), without = layer("down", 1, 20), slow = layer("gate", 1, 500);
  other_op.info.op = without.info.op = "linear_b";
  without.status = Status::Unsupported;
  without.perf.reset();
  Record gate_b = layer("gate", 1, 20);
  gate_b.info.op = "linear_b";
  gate_b.status = Status::Unsupported;
  gate_b.perf.reset();
  Record down_a = layer("down", 1, 40);
  down_a.status = Status::Unsupported;
  down_a.perf.reset();
  const std::vector<RunReport> reports = {
      report_on("A", {layer("up", 1, 100), down_a, slow, other_op, without, gate_b})};
  EXPECT_THAT(overview_text(reports, width), HasSubstr(">= 6.000"));
}

TEST(Steps, AreTheSumOverTheLayersByDeviceTheFastestFirst) {
  const std::vector<RunReport> reports = {report_on("A", {layer("up", 1, 100), layer("down", 1, 50),
                                                          layer("up", 512, 900), layer("down", 512, 600)}),
                                          report_on("B", {layer("up", 1, 80), layer("down", 1, 40)})};
  std::vector<ModelSteps> steps;
  for (const RunReport& report : reports) steps.push_back(model_steps(report));
  const std::string text = steps_text(steps, {.width = width});
  EXPECT_THAT(text,
              StartsWith("llama: a step is the sum over its layers of median time x calls\n\n"
                         "decode, 1 token per step\n"
                         "  ms per step  ratio  at ceilings  tokens/s  layers  device  op and setting\n"
                         "        1.200  1.00x        0.150       833  2 of 2  B       linear, i8, hot\n"
                         "        1.500  1.25x        0.188       667  2 of 2  A       linear, i8, hot\n"
                         "\n512 tokens per step\n"));
  EXPECT_THAT(text,
              HasSubstr("\n       15.000  1.00x        1.875     34133  2 of 2  A       linear, i8, hot\n"));
  EXPECT_THAT(text, HasSubstr("\nmissing\n- B: no step with 512 tokens\n"));
  EXPECT_THAT(text, Not(HasSubstr("  layers on B")));
  EXPECT_THAT(
      steps_text(steps, {.width = width, .layers = true}),
      HasSubstr("\n  layers on B, linear, i8, hot\n     us  calls  ms per step  % ceiling  impl  layer\n"
                "  80.00     10        0.800       12.5  auto  up\n"));
  expect_fits(text);
}

TEST(Steps, OfRunsOfDifferentKindsAreNotRankedTogether) {
  std::vector<RunReport> reports;
  for (const char* device : {"A", "B", "C", "D"}) reports.push_back(report_on(device, {layer("up", 1, 100)}));
  reports[1].run.robust_access = reports[1].run.validation = true;
  reports[2].run.device.as_if = reports[3].run.device.as_if = "phone";
  std::vector<ModelSteps> steps;
  for (const RunReport& report : reports) steps.push_back(model_steps(report));
  const std::string head = "  ms per step  ratio  at ceilings  tokens/s  layers  device  op and setting\n";
  const auto line_of = [](const std::string& device) {
    return "        1.000  1.00x        0.125      1000  1 of 1  " + device + "       linear, i8, hot\n";
  };
  const std::string text = steps_text(steps, {.width = width});
  EXPECT_THAT(text, HasSubstr("\ndecode, 1 token per step\n" + head + line_of("A") +
                              "\ndecode, 1 token per step, with the limits of phone (--as-if)\n" + head +
                              line_of("C") + line_of("D") +
                              "\ndecode, 1 token per step, with robust access (--robust-access), with the\n"
                              "validation layer (--validation)\n" +
                              head + line_of("B")));
  expect_fits(text);
}

TEST(Steps, OfSeveralOpsSayWhatEachAdds) {
  Record depthwise = layer("depthwise", 0, 30);
  depthwise.info.op = "conv_dw";
  const std::vector<RunReport> reports = {report_on("A", {layer("first", 0, 10), depthwise}),
                                          report_on("B", {test::timed("a", "fused", 5)})};
  std::vector<ModelSteps> steps;
  for (const RunReport& report : reports) steps.push_back(model_steps(report));
  const std::string text = steps_text(steps, {.width = 200});
  EXPECT_THAT(text, HasSubstr("\none run of the model\n"
                              "  ms per step  ratio  at ceilings  steps/s  layers  device  op and setting\n"
                              "        0.400  1.00x        0.050     2500  2 of 2  A       conv_dw + linear, "
                              "i8, hot\n\nwhat each op adds, and would gain at its ceilings\n"
                              "- A: conv_dw 0.300 ms (75 %, 0.263 to gain), linear 0.100 ms (25 %, 0.087 to "
                              "gain)\n\nmissing\n- B: no step; the report has no row of the model\n"));
}

TEST(Steps, SayWhichStepOfADeviceHasTheseShares) {
  Record small = layer("up", 1, 100), large = layer("up", 1, 50), norm = layer("norm", 1, 50);
  small.info.params = "group=32";
  large.info.params = "group=128";
  norm.info.op = "norm";
  for (Record* row : {&small, &large}) row->perf->pct_peak_bw = 0;
  RunReport report = report_on("A", {small, large, norm});
  std::vector<ModelSteps> steps = {model_steps(report)};
  EXPECT_THAT(
      steps_text(steps, {.width = 200}),
      HasSubstr("\n- A, i8, hot, group=128: linear 0.500 ms (50 %, ceiling unknown), norm 0.500 ms (50 %, "
                "0.438 to gain)\n- A, i8, hot, group=32: linear 1.000 ms (67 %, "));
  for (Record& row : report.records) row.perf->pct_peak_bw = 0;
  steps = {model_steps(report)};
  const std::string text = steps_text(steps, {.width = 200});
  EXPECT_THAT(text, HasSubstr("        1.000  1.00x      unknown      1000  2 of 2  A "));
  EXPECT_THAT(text,
              HasSubstr("\nwhat each op adds, without ceilings, which are unknown\n- A, i8, hot, group=128: "
                        "linear 0.500 ms (50 %), norm 0.500 ms (50 %)\n"));
}

Record attention(std::int64_t position, double median_us) {
  Record record = layer("attn", 1, median_us);
  record.info.op = "sdpa";
  record.info.params = "start_pos=" + std::to_string(position);
  return record;
}

TEST(Steps, OfEachContextAreApart) {
  Record turned = attention(127, 30);
  turned.info.op = "rotary";
  turned.info.layer = "turn";
  const std::vector<RunReport> reports = {
      report_on("A", {layer("up", 1, 100), attention(127, 20), attention(4095, 60), turned}),
      report_on("B", {layer("up", 1, 100), attention(127, 20), turned})};
  std::vector<ModelSteps> steps;
  for (const RunReport& report : reports) steps.push_back(model_steps(report));
  const std::string text = steps_text(steps, {.width = 200});
  EXPECT_THAT(text, HasSubstr("\ndecode, 1 token per step at context 128\n"));
  EXPECT_THAT(text, HasSubstr("        1.500  1.00x        0.188       667  3 of 3  A  "));
  EXPECT_THAT(text, HasSubstr("\ndecode, 1 token per step at context 4096\n"));
  EXPECT_THAT(text, HasSubstr("     >= 1.600     >= 0.200    <= 625  2 of 3  A  "));
  EXPECT_THAT(text,
              HasSubstr("\n- A, decode, 1 token per step at context 4096, linear + sdpa, i8, hot: missing "
                        "from the sum: turn (no timed row at context 4096)\n"));
  EXPECT_THAT(text, HasSubstr("\n- B: no step with 1 token at context 4096\n"));
  EXPECT_THAT(overview_text({reports.data(), 1}, 200), HasSubstr("llama, context 4096, linear + sdpa\n"));
}

TEST(Steps, ShowChainsBesideTheSums) {
  Record chain = layer("", 1, 70);
  chain.info.id = "net/a/WP/naive";
  chain.info.calls = 16;
  chain.chain.emplace();
  chain.perf->dispatches = {{.label = "a/x", .role = "op", .time_us = 50.5},
                            {.label = "b/x", .role = "op", .time_us = 30}};
  const std::vector<RunReport> reports = {report_on("A", {layer("up", 1, 100), chain}),
                                          report_on("B", {chain})};
  std::vector<ModelSteps> steps;
  for (const RunReport& report : reports) steps.push_back(model_steps(report));
  const std::string text = steps_text(steps, {.width = width});
  EXPECT_THAT(text,
              HasSubstr("\n        1.000  1.00x        0.125      1000  1 of 1  A       linear, i8, hot\n"));
  EXPECT_THAT(text,
              HasSubstr("\nchains, each timed from end to end as one program; they are in no sum\n"
                        "  tokens     us  its dispatches, us  calls  ms per step  device  chain\n"
                        "       1  70.00               80.50     16        1.120  A       net/a/WP/naive\n"
                        "       1  70.00               80.50     16        1.120  B       net/a/WP/naive\n"));
  expect_fits(text);
}

TEST(Steps, ShowChainsOfEachKindOfRunApart) {
  Record chain = layer("", 1, 70);
  chain.info.id = "net/a/WP/naive";
  chain.chain.emplace();
  std::vector<RunReport> reports = {report_on("A", {chain}), report_on("B", {chain})};
  reports[1].run.robust_access = true;
  std::vector<ModelSteps> steps;
  for (const RunReport& report : reports) steps.push_back(model_steps(report));
  const std::string text = steps_text(steps, {.width = width});
  EXPECT_THAT(text, HasSubstr("  A       net/a/WP/naive\n'Its dispatches'"));
  EXPECT_THAT(text,
              HasSubstr("\nchains, with robust access (--robust-access), each timed from end to end as one\n"
                        "program; they are in no sum\n"));
  EXPECT_THAT(text, HasSubstr("  B       net/a/WP/naive\n'Its dispatches'"));
  expect_fits(text);
}

TEST(Steps, NameChainsThatHaveNoTime) {
  Record chain = layer("", 1, 70);
  chain.info.id = "net/a/WP/naive";
  chain.chain.emplace();
  Record skipped = chain;
  skipped.status = Status::Skipped;
  skipped.perf.reset();
  const std::vector<RunReport> reports = {report_on("A", {layer("up", 1, 100), skipped}),
                                          report_on("B", {chain})};
  std::vector<ModelSteps> steps;
  for (const RunReport& report : reports) steps.push_back(model_steps(report));
  const std::string text = steps_text(steps, {.width = 200});
  EXPECT_THAT(
      text, HasSubstr("       1    70.00               70.00     10        0.700  B       net/a/WP/naive\n"
                      "       1  SKIPPED                         10               A       net/a/WP/naive\n"));
  EXPECT_THAT(text, HasSubstr("\nmissing\n- B: no step with 1 token; 1 row of chains is in no sum\n"));
}

TEST(Steps, AreMissingOnlyWhereSomeRowOfTheModelHasTheirTokens) {
  Record chain = layer("", 128, 70);
  chain.info.id = "net/a/WP/naive";
  chain.chain.emplace();
  const std::vector<RunReport> reports = {report_on("A", {layer("up", 1, 100)}),
                                          report_on("B", {layer("up", 1, 80)})};
  const std::vector<RunReport> with_chain = {report_on("A", {layer("up", 1, 100), chain})};
  Record without_tokens = chain;
  without_tokens.info.tokens = 0;
  const std::vector<RunReport> net = {report_on("A", {without_tokens})};
  const auto text_of = [](std::span<const RunReport> of) {
    std::vector<ModelSteps> steps;
    for (const RunReport& report : of) steps.push_back(model_steps(report));
    return steps_text(steps, {.width = 200});
  };
  EXPECT_THAT(text_of(reports), Not(HasSubstr("\nmissing\n")));
  EXPECT_THAT(text_of(with_chain),
              HasSubstr("\nmissing\n- A: no step with 128 tokens; 1 row of chains is in no sum\n"));
  EXPECT_THAT(text_of(net), HasSubstr("\nmissing\n- A: no step; 1 row of chains is in no sum\n"));
}

TEST(Steps, NameWhatIsMissingFromASum) {
  Record wrong = layer("down", 1, 50);
  wrong.status = Status::Fail;
  const std::vector<RunReport> reports = {report_on("A", {layer("up", 1, 100), wrong, layer("gate", 16, 10)}),
                                          report_on("B", {test::timed("a", "fused", 5)})};
  std::vector<ModelSteps> steps;
  for (const RunReport& report : reports) steps.push_back(model_steps(report));
  const std::string text = steps_text(steps, {.width = 200});
  EXPECT_THAT(text, HasSubstr("     >= 1.000     >= 0.125   <= 1000  1 of 3  A       linear, i8, hot\n"));
  EXPECT_THAT(text, HasSubstr("- A, decode, 1 token per step, linear, i8, hot: missing from the sum: down "
                              "(FAIL), gate (no timed row)\n"));
  EXPECT_THAT(text, Not(HasSubstr("- A: no step")));
  EXPECT_THAT(text, HasSubstr("- B: no step with 1, 16 tokens; the report has no row of the model\n"));
}

}  // namespace
}  // namespace assay
