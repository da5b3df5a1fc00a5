#include "harness/report/console/show.h"

#include "harness/base/status.h"
#include "tests/support/all_fields.h"
#include "tests/support/records.h"
#include "tests/support/report_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <map>
#include <type_traits>
#include <utility>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PlanGraph, HasAStepForEachPartAndAnEdgeForEachTensor) {
  Record record;
  record.info.id = "net/one/\"quoted\"";
  record.chain = ChainPlan{.steps = {{.name = "conv",
                                      .op = "q8ta_conv2d",
                                      .impl = "general",
                                      .reads = {"x as buffer/4W4C"},
                                      .writes = {"a as buffer/4C"}},
                                     {.name = "a to buffer/4W",
                                      .op = "q8ta_clone",
                                      .impl = "tiled",
                                      .is_transition = true,
                                      .reads = {"a as buffer/4C"},
                                      .writes = {"a as buffer/4W"}},
                                     {.name = "add",
                                      .op = "q8ta_add",
                                      .impl = "fused",
                                      .reads = {"a as buffer/4W", "x as buffer/4W4C"},
                                      .writes = {"b as buffer/4W"}}}};
  EXPECT_EQ(plan_as_dot(record), R"dot(digraph "net/one/\"quoted\"" {
  node [shape=box]
  step0 [label="conv: q8ta_conv2d/general"]
  step1 [label="a to buffer/4W", style=filled]
  step2 [label="add: q8ta_add/fused"]
  "outside x" [shape=plaintext, label="x"]
  "outside x" -> step0 [label="x as buffer/4W4C"]
  step0 -> step1 [label="a as buffer/4C"]
  step1 -> step2 [label="a as buffer/4W"]
  "outside x" -> step2 [label="x as buffer/4W4C"]
  "outside b" [shape=plaintext, label="b"]
  step2 -> "outside b" [label="b as buffer/4W"]
}
)dot");
}

// Gives every field of a record a unique value and remembers how a text has to show it.
class Filler {
 public:
  template <class T>
  void operator()(const char* name, T& value, FieldRule /*rule*/ = {}) {
    const std::string outer = std::exchange(path_, path_ + "/" + name);
    fill(value);
    path_ = outer;
  }

  const std::vector<std::pair<std::string, std::string>>& expected() const { return expected_; }

 private:
  // Numbers that are unlikely to be a sum, share or rate of others.
  int next() { return number_ += 7; }
  void expect(const std::string& text) { expected_.emplace_back(path_, text); }

  void fill(std::string& value) {
    value = "text" + std::to_string(next());
    expect(value);
  }
  void fill(double& value) {
    value = next() + 0.25;
    expect(shortest(value));
  }
  void fill(bool&) {}  // a test of its own
  // Lists and limits are not shown for rows: run.json has them.
  void fill(DeviceInfo& device) {
    for (std::string* text : {&device.name, &device.type, &device.driver_name, &device.driver_info,
                              &device.api_version, &device.uuid}) {
      fill(*text);
    }
  }
  void fill(Status& value) { expect(std::string(name_of(value = Status::UnexpectedPass))); }
  void fill(TimerQuality& value) { expect(std::string(name_of(value = TimerQuality::Coarse))); }
  void fill(OutputClass& value) { expect(std::string(name_of(value = OutputClass::Banded))); }
  void fill(std::map<std::string, std::string>& value) {
    value = {{"name" + std::to_string(next()), "value" + std::to_string(next())}};
    expect(value.begin()->first + "=" + value.begin()->second);
  }
  template <class T>
  requires std::is_integral_v<T>
  void fill(T& value) {
    value = static_cast<T>(next());
    expect(std::to_string(value));
  }
  template <class T>
  void fill(std::optional<T>& value) {
    fill(value.emplace());
  }
  template <class T>
  void fill(std::vector<T>& value) {
    value.resize(1);  // so that a block's median is its sample
    fill(value.front());
  }
  void fill(std::array<std::size_t, 3>& value) {
    for (std::size_t& number : value) fill(number);
  }
  template <class T>
  requires std::is_class_v<T>
  void fill(T& value) { test::all_fields(*this, value); }

  std::string path_;
  int number_ = 4001;
  std::vector<std::pair<std::string, std::string>> expected_;
};

std::string page_of(const Record& record, const PageOptions& options = {}) {
  const Record* const row = &record;
  return show_text(test::sample_run(), {&row, 1}, options);
}

TEST(Show, HasTheDiagnosisTheEvidenceAndWhatTheLayerSaid) {
  Record record = test::failed("a");
  record.accuracy->diagnosis = Diagnosis{"packing", "lanes are in another order", 1};
  record.accuracy->first = WrongElement{.at = {0, 3}, .expected = 5, .got = 6, .made_from = {"x[0,3]=1.5"}};
  record.accuracy->worst = WrongElement{.at = {0, 4}, .expected = 5, .got = 60};
  record.validation_messages = 1;
  record.validation_texts = {"a hazard"};
  const std::vector<const Record*> rows{&record};
  const std::string text = show_text(test::sample_run(), rows, {});
  EXPECT_THAT(text,
              ::testing::HasSubstr("  diagnosis       packing: lanes are in another order (explains 100 %"));
  EXPECT_THAT(
      text, ::testing::HasSubstr("  first wrong     [0,3]: expected 5, got 6 (bound 0), from x[0,3]=1.5\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("  worst           [0,4]: expected 5, got 60 (bound 0)\n"));
  EXPECT_THAT(text,
              ::testing::HasSubstr(
                  "  validation      1 message from the validation layer\n                  a hazard\n"));
}

TEST(Show, LeavesNoFieldOfARecordOut) {
  Record record;
  Filler filler;
  test::all_fields(filler, record);
  ASSERT_GT(filler.expected().size(), 60U);
  Record uncompared = record;  // the plan's baseline is shown if no comparison names it
  uncompared.comparison.reset();
  uncompared.accuracy->first.reset();
  const std::string page = page_of(record) + page_of(uncompared);
  for (const auto& [path, text] : filler.expected()) {
    EXPECT_THAT(page, HasSubstr(text)) << "the page of show.cpp has no line for the record's " << path;
  }
}

TEST(Show, LeavesNothingOfTheRunOut) {
  RunInfo run;
  Filler filler;
  test::all_fields(filler, run);
  const Record record = test::passed("a");
  const Record* const row = &record;
  const std::string page = show_text(run, {&row, 1});
  for (const auto& [path, text] : filler.expected()) EXPECT_THAT(page, HasSubstr(text)) << path;
  EXPECT_THAT(page, HasSubstr("validation off"));
  run.validation = true;
  EXPECT_THAT(show_text(run, {&row, 1}), HasSubstr("validation on"));
}

TEST(Show, SaysWhetherTheTimeIsVerifiedAndTheHashPortable) {
  Record record = test::timed("a", "fused", 2);
  EXPECT_THAT(page_of(record), HasSubstr("verified        yes"));
  record.perf->verified = false;
  EXPECT_THAT(page_of(record), HasSubstr("verified        no\n"));
  record = test::passed("a");
  EXPECT_THAT(page_of(record), HasSubstr("(every output is exact: equal on all devices)"));
  record.accuracy->hash_is_portable = false;
  EXPECT_THAT(page_of(record), HasSubstr("(may differ between devices)"));
}

TEST(Show, LaysOutBothRowsOfACase) {
  Record accuracy = test::failed("a");
  Record perf = test::timed("a", "fused", 2.5);
  perf.info.tune = "local_size=64";
  perf.perf->dispatches = {{"dequantize", "op", 9.5}, {"view", "transition", 0.25}, {"quantize", "op", 0.25}};
  perf.perf->sample_us = {{2.5, 3}, {2.5, 9, 1}, {}};
  const std::vector<const Record*> rows = {&accuracy, &perf};
  EXPECT_TRUE(
      test::matches(show_text(test::sample_run(), rows), R"(FAIL  shuffle/a/1x16x4x8/4W4C.4W4C/fused (accu)
  reason          1 of 2 outputs is wrong

case
  op              shuffle
  name            a
  impl            fused
  dtype           i8
  shape           1x16x4x8
  params          upscale_factor=2
  forms           x=buffer/4W4C y=buffer/4C1W
  fill            x=normal
  group           00112233445566ff
  seed            7
  tier            ci
  at              cases/shuffle.yaml:12:5
  validation      0 messages from the layer
  took            2.125 ms in all
  again           assay run --filter shuffle/a/1x16x4x8/4W4C.4W4C/fused

accuracy
  output          y
  class           exact
  elements        1536
  wrong           42 (2.7 %)
  largest error   3
  error/bound     inf
  metric          wrong_value (wrong value)
  first wrong     [0,3,7,2]: expected 12, got 13, bound 0
  map             ....
                  .##.
  input hash      11112222333344445555666677778888
  output hash     9999aaaabbbbccccddddeeeeffff0000 (every output is exact: equal on all devices)
  guards          x=after y=none
  matrices        by VK_KHR_cooperative_matrix
  reference       0.250 ms on the CPU
  device          1.500 ms for upload, runs and download
  memory          4096 bytes

PASS  shuffle/a/1x16x4x8/4W4C.4W4C/fused (perf)

case
  op              shuffle
  name            a
  impl            fused
  dtype           i8
  shape           1x16x4x8
  params          upscale_factor=2
  forms           x=buffer/4W4C y=buffer/4C1W
  tune            local_size=64
  fill            x=normal
  group           00112233445566ff
  cache           hot
  seed            7
  tier            ci
  at              cases/shuffle.yaml:12:5
  validation      0 messages from the layer
  took            40.000 ms in all
  again           assay run --mode perf --filter shuffle/a/1x16x4x8/4W4C.4W4C/fused

time of one program run
  median          2.5000 us +- 0.75 %
  min, quartiles  1.2500 us, 1.8750 us, 3.1250 us
  mean            2.8125 us, standard deviation 0.5000 us
  spread          1.50 % between the medians of blocks
  block medians   2.75  2.5  -
  sampled         2 blocks, 4 samples, batch 10 (programs per sample)
  ended by        interval
  time source     gpu
  timer           good
  full clock      0.995 of it during the samples, by the clock probe
  imprecise       only 2 blocks, of the 5 that are needed: do not decide from this time
  overlapping     2.1875 us per program, without a barrier between programs
  transitions     0.0000 us in dispatches that only change the layout
  must move       8000 bytes (4000 of them read), 3.2 GB/s, 12.5 % of the device's 25.6 GB/s
  must do         0 operations
  ceiling         bandwidth
  limited by      latency
  dispatches      dequantize  op          9.5000 us   95.0 %
                  view        transition  0.2500 us    2.5 %
                  quantize    op          0.2500 us    2.5 %
  verified        yes: the timed outputs equal the judged one
  compared        100 % of their elements
  output hash     9999aaaabbbbccccddddeeeeffff0000
  compiled in     12.500 ms
  registers       24 per invocation
  memory          8192 bytes in all sets
  SPIR-V hash     abcdefabcdefabcdefabcdefabcdefab
  program hash    00001111222233334444555566667775

device
  name            Acme GPU 9
  type            discrete
  driver          Acme 12.3
  Vulkan          1.3.250
  UUID            000102030405060708090a0b0c0d0e0f

run
  id              20260102T030405Z-1a2b3c (schema 3)
  started         2026-01-02T03:04:05Z
  assay           0.1.0+b1a8850ccc06, GCC 12.2.0, Release
  host            rack7, Linux 6.1
  CPU             Acme CPU, 8 cores
  command         assay run cases/shuffle.yaml
  environment     VK_DRIVER_FILES=icd.json
  seed            18446744073709551615
  layer           validation off

timer
  quality         good
  unit            32.5 ns, the larger of step and empty pair (95 %)
  period          1 ns per tick
  valid bits      64, wraps after 1.84467e+10 s
  smallest step   32 ns
  empty pair      32 ns median, 32.5 ns at 95 %
  long dispatch   1.0005 of its time on the CPU's clock (submission)

ceilings
  measured        2026-01-02T03:04:01Z, on 000102030405060708090a0b0c0d0e0f, driver Acme 12.3
  kernels         0123456789abcdef0123456789abcdef
  GB/s            footprint  copy  read  write
                      1 MiB  2000  2500   1500
                      1 GiB   500   520    480
  last cache      32 MiB
  fp32            50000 GOP/s
  fp16            100000 GOP/s
  int8 dot        90000 GOP/s
  int8 matrix     not supported
  fp16 matrix     not supported
  dispatch        2.25 us from one empty dispatch to the next
)"));
}

TEST(Show, NamesTheTokensOfARowWithoutAModel) {
  Record record = test::timed("a", "fused", 2);
  record.info.tokens = 1;
  EXPECT_THAT(page_of(record), HasSubstr("\n  tokens          1\n"));
  EXPECT_THAT(page_of(record), Not(HasSubstr("\n  model ")));
  record.info.model = "llama";
  record.info.layer = "mlp.down";
  record.info.calls = 16;
  EXPECT_THAT(page_of(record),
              HasSubstr("\n  model           llama, mlp.down, 16 calls per step\n  tokens          1\n"));
}

TEST(Show, WritesLargeRatesAndTimesWithoutAnExponent) {
  Record record = test::timed("a", "fused", 2'500'000);
  record.perf->operations = 49'075'000'000'000;
  record.perf->pct_peak_ops = 61;
  record.perf->peak_gops = 1'979'000;
  const std::string page = page_of(record);
  EXPECT_THAT(page, HasSubstr(" operations, 19630 GOP/s, 61 % of the device's 1979000 GOP/s\n"));
  EXPECT_THAT(page, HasSubstr("\n  block medians   1875000  3750000\n"));
}

TEST(Show, WithholdsNothingButSaysThatAWrongKernelHasNoTime) {
  Record record = test::timed("a", "fused", 2.5);
  record.status = Status::Fail;
  EXPECT_THAT(page_of(record), HasSubstr("\ntime of one program run: no result, the case ended as FAIL\n"));
}

TEST(Show, AddsEverySampleWhenAsked) {
  Record record = test::timed("a", "fused", 2.5);
  record.perf->sample_us = {{1.125, 2.0625}, {}};
  EXPECT_THAT(page_of(record), Not(HasSubstr("2.0625")));
  EXPECT_THAT(page_of(record, {.samples = true}),
              HasSubstr("\nsamples, us by block\n  block 1         1.125  2.0625\n  block 2         none\n"));
}

TEST(Show, IsPlainTextUnlessColorIsAskedFor) {
  for (const Record& record : test::all_kinds()) {
    const std::string page = page_of(record);
    EXPECT_EQ(page.find_first_of(std::string("\x1b\r\x7f") + '\0'), page.npos);
    EXPECT_EQ(valid_utf8(page), page);
    EXPECT_THAT(page_of(record, {.color = true}), HasSubstr("\x1b["));
  }
}

}  // namespace

}  // namespace assay
