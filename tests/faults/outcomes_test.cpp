#include "harness/base/statistics.h"
#include "harness/tensor/npy/npy.h"
#include "tests/faults/bench.h"
#include "tests/faults/fault_ops.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

// How rows end that do not simply pass or fail, and what a record holds of them.

namespace assay::faults {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const Op& matmul_op() {
  static const Op op = matmul();
  return op;
}

const Op& quantize_op() {
  static const Op op = quantize();
  return op;
}

Case matmul_case(const std::string& impl, FillKind fill = FillKind::Normal) {
  return fault_case(matmul_op(), impl, matmul_params(4, 33, 9), fill);
}

Case quantize_case(const std::string& impl, FillKind fill = FillKind::Normal) {
  return fault_case(quantize_op(), impl, quantize_params({2, 5, 3, 7}), fill);
}

Record run(const Case& test_case, Mode mode = Mode::Accu) {
  return Bench::shared().run(test_case, mode);
}

std::vector<Status> statuses(const Heard& heard) {
  std::vector<Status> all;
  for (const Record& record : heard.records) all.push_back(record.status);
  return all;
}

/// The one rule of the device that runs the tests.
Expectations expecting(Expectation::Kind kind, const std::string& glob) {
  Expectations expectations;
  expectations.add({.name = Pattern(""),
                    .rules = {{.match = glob, .kind = kind, .reason = "known driver bug", .link = "bug 7"}}});
  return expectations;
}

TEST(Outcome, AShaderThatDoesNotCompileFailsWithItsLine) {
  for (const Mode mode : {Mode::Accu, Mode::Perf}) {
    const Record record = run(matmul_case("does_not_compile"), mode);
    EXPECT_EQ(record.status, Status::Fail);
    EXPECT_THAT(record.reason, HasSubstr("does_not_compile.comp:8: error: 'undeclared'"));
    EXPECT_THAT(record.reason, HasSubstr("undeclared[i] = 0u;"));
    EXPECT_FALSE(record.perf.has_value());
  }
}

std::optional<Feature> missing_feature(const DeviceInfo& device) {
  for (int i = 0; i <= static_cast<int>(Feature::CooperativeMatrixNv); ++i) {
    if (!device.has(static_cast<Feature>(i))) return static_cast<Feature>(i);
  }
  return std::nullopt;
}

TEST(Outcome, AFeatureThatTheDeviceLacksIsUnsupported) {
  const std::optional<Feature> missing = missing_feature(Bench::shared().device().info());
  if (!missing) GTEST_SKIP() << "the device has every feature";
  Op op = matmul();
  op.impls.front().needs = {*missing};
  const Record record = run(fault_case(op, op.impls.front().name, matmul_params(4, 33, 9)));
  EXPECT_EQ(record.status, Status::Unsupported);
  EXPECT_EQ(record.reason, std::string(name_of(*missing)) + " is missing");
  EXPECT_FALSE(record.accuracy.has_value());
}

TEST(Outcome, AWorkgroupBeyondTheLimitIsUnsupportedWithBothNumbers) {
  const std::uint32_t limit = Bench::shared().device().info().max_workgroup_size[0];
  const Record record = run(matmul_case("oversized_workgroup"));
  EXPECT_EQ(record.status, Status::Unsupported);
  EXPECT_THAT(record.reason, HasSubstr(std::to_string(limit + 1)));
  EXPECT_THAT(record.reason, HasSubstr("maxComputeWorkGroupSize[0] is " + std::to_string(limit)));
}

TEST(Outcome, ATensorBeyondTheLimitIsUnsupportedByName) {
  const auto limit = static_cast<std::int64_t>(Bench::shared().device().info().max_storage_buffer_range);
  if (limit > std::int64_t{1} << 30) GTEST_SKIP() << "the device binds " << limit << " bytes";
  Case test_case = quantize_case("correct");
  test_case.params = quantize_params({1, 1, 1, limit / 4});  // with its guards, x is just too large
  test_case.tensors = test_case.op->tensors(test_case.params);
  for (const Mode mode : {Mode::Accu, Mode::Perf}) {
    const Record record = Bench::shared().run(test_case, mode);
    EXPECT_EQ(record.status, Status::Unsupported);
    EXPECT_THAT(record.reason, HasSubstr("buffer 'x' needs"));
    EXPECT_THAT(record.reason, HasSubstr(std::to_string(limit + 2048) + " bytes, 2048 of them guards"));
    EXPECT_THAT(record.reason, HasSubstr("maxStorageBufferRange is " + std::to_string(limit)));
  }
}

TEST(Outcome, ATextureBeyondTheLimitIsUnsupportedByName) {
  static const Op op = flip(Storage::Texture3D);
  const std::int64_t limit = Bench::shared().device().info().max_image_3d;
  const Record record = run(fault_case(op, "correct", flip_params({limit + 1, 1})));
  EXPECT_EQ(record.status, Status::Unsupported);
  EXPECT_EQ(record.reason, "x as texture3d/WP needs " + std::to_string(limit + 1) +
                               " texels in y; maxImageDimension3D is " + std::to_string(limit));
}

TEST(Outcome, MemoryThatTheDeviceDoesNotHaveIsOutOfMemory) {
  const Record record = run(matmul_case("oversized_scratch"));
  EXPECT_EQ(record.status, Status::OutOfMemory) << record.reason;
  EXPECT_THAT(record.reason, HasSubstr("allocating"));
  EXPECT_EQ(run(matmul_case("correct")).status, Status::Pass) << "the next row has its memory";
}

TEST(Outcome, ARightKernelIsMistrustedWhenAConstantWouldPass) {
  Case test_case = quantize_case("correct");
  for (auto& [name, fill] : test_case.fills.edit()) fill = {.kind = FillKind::Constant};
  const Record record = run(test_case);
  EXPECT_EQ(record.status, Status::Mistrusted);
  ASSERT_TRUE(record.accuracy.has_value());
  EXPECT_EQ(record.accuracy->metric, "constant");
  EXPECT_THAT(record.reason, HasSubstr("'constant' of output 'q' would pass too: this case proves nothing"));
  EXPECT_EQ(record.accuracy->mismatches, 0);
}

TEST(Outcome, ARightKernelIsMistrustedWhenZerosWouldPass) {
  const Record record = run(matmul_case("correct", FillKind::Zero));
  EXPECT_EQ(record.status, Status::Mistrusted);
  EXPECT_EQ(record.accuracy->metric, "all_zeros");
}

TEST(Outcome, ARightKernelIsMistrustedWhenMostOfItsAnswerIsClamped) {
  Case test_case = quantize_case("correct");
  test_case.fills.edit().at("scale") = {.kind = FillKind::Constant, .value = 0x1p-12};
  const Record record = run(test_case);
  EXPECT_EQ(record.status, Status::Mistrusted);
  ASSERT_TRUE(record.accuracy.has_value());
  EXPECT_EQ(record.accuracy->metric, "saturated");
  EXPECT_THAT(record.reason,
              ContainsRegex("9[0-9] % of 'q' are at the ends of its range, -128 and 127, where any value"));
  EXPECT_EQ(record.accuracy->mismatches, 0);
}

TEST(Outcome, AMistrustedAnswerHasNoTime) {
  const Record record = run(matmul_case("correct", FillKind::Zero), Mode::Perf);
  EXPECT_EQ(record.status, Status::Mistrusted);
  EXPECT_FALSE(record.perf.has_value());
}

TEST(Outcome, AWrongKernelFailsEvenWhenItsCaseProvesNothing) {
  EXPECT_EQ(run(quantize_case("null_kernel", FillKind::Zero)).status, Status::Fail);
}

TEST(Outcome, AnExcludedPointIsInvalidAndIsNotRun) {
  Case test_case = matmul_case("endless");
  test_case.invalid = "needs K to be a multiple of 4, it is 33";
  const Record record = run(test_case);
  EXPECT_EQ(record.status, Status::Invalid);
  EXPECT_EQ(record.reason, "needs K to be a multiple of 4, it is 33");
}

TEST(Outcome, ASkippedCaseIsNotRun) {
  const Heard heard = Bench::shared().run({matmul_case("endless")}, {.mode = Mode::Accu},
                                          expecting(Expectation::Kind::Skip, "matmul/*"));
  ASSERT_THAT(statuses(heard), ElementsAre(Status::Skipped));
  EXPECT_EQ(heard.records[0].reason, "known driver bug, bug 7");
}

TEST(Outcome, WhatIsExpectedOfARowThatRunsIsNoMatterToTheEngine) {
  const Heard heard = Bench::shared().run({quantize_case("truncation")}, {.mode = Mode::Accu},
                                          expecting(Expectation::Kind::Fail, "*/truncation"));
  ASSERT_THAT(statuses(heard), ElementsAre(Status::Fail));
}

TEST(Outcome, APassWithValidationMessagesFailsInBothModes) {
  for (const Mode mode : {Mode::Accu, Mode::Perf}) {
    DeviceRunOptions options{.mode = mode};
    // A message arrives while the program is prepared, none while it is timed.
    options.validation_messages = [asked = 0]() mutable { return std::int64_t{asked++ == 0 ? 0 : 1}; };
    options.validation_texts = [](std::int64_t) {
      return std::vector<std::string>{"binding 3 is not bound"};
    };
    const Heard heard = Bench::shared().run({matmul_case("correct")}, options);
    ASSERT_THAT(statuses(heard), ElementsAre(Status::Fail));
    EXPECT_EQ(heard.records[0].validation_messages, 1);
    EXPECT_THAT(heard.records[0].reason, HasSubstr("binding 3 is not bound"));
    EXPECT_FALSE(heard.records[0].perf.has_value());
  }
}

// The validation layer's message may be the reason why a program is wrong.
TEST(Outcome, WhatTheLayerSaysIsKeptWhereValuesAreWrongToo) {
  DeviceRunOptions options{.mode = Mode::Accu};
  options.validation_messages = [asked = 0]() mutable { return std::int64_t{asked++ == 0 ? 0 : 2}; };
  options.validation_texts = [](std::int64_t) { return std::vector<std::string>{"a hazard", "another"}; };
  const Heard heard = Bench::shared().run({matmul_case("last_k_dropped")}, options);
  ASSERT_THAT(statuses(heard), ElementsAre(Status::Fail));
  EXPECT_EQ(heard.records[0].accuracy->metric, "wrong_value");
  EXPECT_EQ(heard.records[0].validation_messages, 2);
  EXPECT_THAT(heard.records[0].validation_texts, ElementsAre("a hazard", "another"));
}

TEST(Outcome, AMissingInputFileFailsItsRowOnly) {
  Case broken = matmul_case("correct");
  broken.id = "matmul/broken/correct";
  broken.fills.edit()["x"] = {.kind = FillKind::Npy, .file = {"/nowhere/x.npy"}};
  broken.data_key = 1;
  const Heard heard = Bench::shared().run({broken, matmul_case("correct")}, {.mode = Mode::Accu});
  EXPECT_THAT(statuses(heard), ElementsAre(Status::Fail, Status::Pass));
  EXPECT_THAT(heard.records[0].reason, HasSubstr("/nowhere/x.npy"));
}

TEST(Outcome, AWrongImplDoesNotTakeItsGroupWithIt) {
  const std::vector<Case> group = {matmul_case("does_not_compile"), matmul_case("last_k_dropped"),
                                   matmul_case("wrong_when_repeated"), matmul_case("correct")};
  const Heard heard = Bench::shared().run(group);
  // Accuracy rows first; those that are timed end together, after the others of the group.
  EXPECT_THAT(statuses(heard), ElementsAre(Status::Fail, Status::Fail, Status::Pass, Status::Pass,  // accu
                                           Status::Fail, Status::Fail, Status::Fail, Status::Pass));
  EXPECT_EQ(std::set<std::string>(heard.begun.begin(), heard.begun.end()).size(), 4U);
  EXPECT_TRUE(heard.records.back().perf.has_value());
}

TEST(TimedTogether, WhoseTurnItIsIsTold) {
  Op op = matmul();
  op.impls.push_back({.name = "again", .build = op.find_impl("correct")->build});
  const std::vector<Case> group = {fault_case(op, "correct", matmul_params(4, 33, 9)),
                                   fault_case(op, "again", matmul_params(4, 33, 9))};
  const Heard heard = Bench::shared().run(group, {.mode = Mode::Perf});
  ASSERT_THAT(statuses(heard), ElementsAre(Status::Pass, Status::Pass));
  EXPECT_GT(heard.begun.size(), 6U) << "five blocks of each, in turn";
  EXPECT_LE(heard.begun.size(), 2U + 2U * 26U) << "at most once a block";
  for (std::size_t i = 1; i < heard.begun.size(); ++i) EXPECT_NE(heard.begun[i - 1], heard.begun[i]) << i;
}

TEST(TimedTogether, EveryBlockIsToldInItsTurn) {
  Op op = matmul();
  op.impls.push_back({.name = "again", .build = op.find_impl("correct")->build});
  const std::vector<Case> group = {fault_case(op, "correct", matmul_params(4, 33, 9)),
                                   fault_case(op, "again", matmul_params(4, 33, 9))};
  const Heard heard = Bench::shared().run(group, {.mode = Mode::Perf});
  ASSERT_THAT(statuses(heard), ElementsAre(Status::Pass, Status::Pass));
  EXPECT_EQ(std::set<std::string>(heard.blocks.begin(), heard.blocks.begin() + 2).size(), 2U)
      << "one block of each, then the next";
  for (const Record& record : heard.records) {
    ASSERT_TRUE(record.accuracy && record.perf);
    EXPECT_EQ(std::count(heard.blocks.begin(), heard.blocks.end(), record.info.id), record.perf->blocks);
    EXPECT_EQ(record.perf->output_hash, record.accuracy->output_hash);
  }
}

TEST(TimedTogether, ARowThatIsTimedAloneBeginsOnce) {
  const Heard heard = Bench::shared().run({matmul_case("correct")}, {.mode = Mode::Perf});
  EXPECT_EQ(heard.begun.size(), 1U);
}

TEST(BaselineImpl, EveryOtherImplOfAGroupIsHeldAgainstIt) {
  Op op = matmul();
  op.impls.push_back({.name = "again", .build = op.find_impl("correct")->build});
  const auto test_case = [&](const char* impl) { return fault_case(op, impl, matmul_params(4, 33, 9)); };
  const std::vector<Case> group = {test_case("again"), test_case("correct"), test_case("last_k_dropped"),
                                   test_case("wrong_when_repeated")};
  const Heard heard = Bench::shared().run(group, {.rows = {.baseline_impl = "correct"}, .mode = Mode::Perf});
  std::map<std::string, Record> of;
  for (const Record& record : heard.records) of[record.info.impl] = record;
  EXPECT_FALSE(of.at("correct").comparison);
  const Comparison again = of.at("again").comparison.value();
  EXPECT_EQ(again.baseline, "matmul/fault/correct");
  EXPECT_EQ(again.note, "");
  EXPECT_GT(again.ratio_low, 0);
  EXPECT_LE(again.ratio_low, again.ratio);
  EXPECT_LE(again.ratio, again.ratio_high);
  EXPECT_GE(again.blocks, 5);
  for (const char* wrong : {"last_k_dropped", "wrong_when_repeated"}) {
    EXPECT_EQ(of.at(wrong).comparison.value().ratio, 0);
    EXPECT_EQ(of.at(wrong).comparison.value().note, "this row is FAIL");
  }
}

TEST(BaselineImpl, AWrongBaselineIsNamedByWhoeverNeedsIt) {
  const std::vector<Case> group = {matmul_case("correct"), matmul_case("wrong_when_repeated")};
  const Heard heard =
      Bench::shared().run(group, {.rows = {.baseline_impl = "wrong_when_repeated"}, .mode = Mode::Perf});
  ASSERT_THAT(statuses(heard), ElementsAre(Status::Fail, Status::Pass)) << "the baseline ends first";
  EXPECT_EQ(heard.records[1].comparison.value().note,
            "its baseline matmul/fault/wrong_when_repeated is FAIL");
}

TEST(BaselineImpl, AGroupWithoutItSaysSo) {
  const Heard heard = Bench::shared().run({matmul_case("correct")},
                                          {.rows = {.baseline_impl = "nobody"}, .mode = Mode::Perf});
  ASSERT_THAT(statuses(heard), ElementsAre(Status::Pass));
  EXPECT_EQ(heard.records[0].comparison.value().note,
            "no row of impl 'nobody' in the same forms is timed in this group");
}

TEST(PlannedRows, ACaseOfModeBothIsTwoAccuracyFirst) {
  const Case test_case = matmul_case("correct");
  const Case* pointers[] = {&test_case};
  const auto modes = [&](std::optional<Mode> mode) {
    std::vector<Mode> all;
    for (const PlannedGroup& group : plan_rows(pointers, mode)) {
      for (const PlannedRow& row : group) all.push_back(row.mode);
    }
    return all;
  };
  EXPECT_THAT(modes(std::nullopt), ElementsAre(Mode::Accu, Mode::Perf));
  EXPECT_THAT(modes(Mode::Accu), ElementsAre(Mode::Accu));
  EXPECT_THAT(modes(Mode::Perf), ElementsAre(Mode::Perf));
}

TEST(PlannedRows, ACaseOfAnotherModeHasNone) {
  Case test_case = matmul_case("correct");
  test_case.mode = Mode::Accu;
  const Case* pointers[] = {&test_case};
  EXPECT_THAT(plan_rows(pointers, Mode::Perf), IsEmpty());
}

TEST(RecordOfAFailure, PicturesWhereTheErrorsLie) {
  const Record record = run(quantize_case("width_tail_dropped"));
  ASSERT_TRUE(record.accuracy.has_value());
  const AccuracyResult& accuracy = *record.accuracy;
  EXPECT_EQ(accuracy.output, "q");
  EXPECT_EQ(accuracy.elements, 210);
  EXPECT_GT(accuracy.mismatches, 60) << "90 elements were dropped, few of them are 0 anyway";
  EXPECT_LE(accuracy.mismatches, 90);
  ASSERT_EQ(accuracy.first_bad.size(), 4U);
  EXPECT_GE(accuracy.first_bad[3], 4);
  EXPECT_EQ(accuracy.got, 0);
  EXPECT_NE(accuracy.expected, 0);
  EXPECT_THAT(accuracy.tile_map, StartsWith("errors by tile of 2 rows x 1 column of 30 x 7 ('.' none wrong"));
  EXPECT_THAT(accuracy.tile_map, HasSubstr("....###"));
  EXPECT_TRUE(accuracy.hash_is_portable);
  EXPECT_GT(accuracy.memory_bytes, 210 * 5);
  EXPECT_EQ(record.repro,
            "assay run faults.yaml --filter 'quantize_affine/fault/width_tail_dropped' --mode accu");
}

TEST(RecordOfAPass, HasHashesThatNeitherImplNorModeChanges) {
  const Record accu = run(matmul_case("correct"));
  const Record perf = run(matmul_case("correct"), Mode::Perf);
  const Record other = run(matmul_case("wrong_when_repeated"));
  ASSERT_EQ(accu.status, Status::Pass) << accu.reason;
  ASSERT_EQ(perf.status, Status::Pass) << perf.reason;
  EXPECT_EQ(accu.accuracy->output_hash, perf.accuracy->output_hash);
  EXPECT_EQ(accu.accuracy->output_hash, perf.perf->output_hash);
  EXPECT_EQ(accu.accuracy->output_hash, other.accuracy->output_hash);
  EXPECT_EQ(accu.accuracy->input_hash, other.accuracy->input_hash);
  EXPECT_EQ(accu.accuracy->err_over_bound, 0);
  EXPECT_EQ(accu.accuracy->tile_map, "");
}

TEST(RecordOfATime, HasWorkSamplesAndShares) {
  const Record record = run(matmul_case("correct"), Mode::Perf);
  ASSERT_TRUE(record.perf.has_value()) << record.reason;
  const PerfResult& perf = *record.perf;
  EXPECT_EQ(perf.bytes, 4 * 33 + 9 * 33 + 4 * 4 * 9);
  EXPECT_EQ(perf.blocks, static_cast<int>(perf.sample_us.size()));
  std::size_t samples = 0;
  std::vector<double> medians;
  for (const auto& block : perf.sample_us) {
    samples += block.size();
    medians.push_back(median(block));
  }
  const auto [low, high] = std::minmax_element(medians.begin(), medians.end());
  EXPECT_NEAR(perf.spread_pct, 100 * (*high - *low) / perf.time_us_p50, 1e-6);
  EXPECT_NEAR(perf.ci_pct, interval_pct(medians), 1e-6);
  EXPECT_EQ(perf.samples, static_cast<int>(samples));
  EXPECT_LE(perf.time_us_min, perf.time_us_p25);
  EXPECT_LE(perf.time_us_p25, perf.time_us_p50);
  EXPECT_LE(perf.time_us_p50, perf.time_us_p75);
  EXPECT_GT(perf.throughput_us, 0);
  ASSERT_EQ(perf.dispatches.size(), 1U);
  EXPECT_EQ(perf.dispatches[0].label, "correct");
  EXPECT_EQ(perf.dispatches[0].role, "op");
  EXPECT_GT(perf.dispatches[0].time_us, 0);
  EXPECT_EQ(perf.time_transition_us, 0);
  EXPECT_THAT(perf.stop, ::testing::AnyOf("interval", "budget"));
  EXPECT_EQ(perf.spirv_hash.size(), 64U);
}

TEST(RecordOfATime, SaysWhereTheRowsTimeWent) {
  const Record record = run(matmul_case("correct"), Mode::Perf);
  ASSERT_TRUE(record.perf.has_value() && record.spent.has_value()) << record.reason;
  EXPECT_GT(record.spent->judging_ms, 0);
  EXPECT_GT(record.spent->filling_ms, 0);
  EXPECT_GT(record.spent->heating_ms, 0);
  EXPECT_LT(record.spent->heating_ms, record.total_ms);
  EXPECT_LE(record.spent->judging_ms + record.perf->submitted_ms + record.spent->filling_ms, record.total_ms);
  EXPECT_FALSE(run(matmul_case("correct")).spent.has_value());
}

TEST(DumpOption, WritesTheTensorsOfAFailure) {
  const test::TemporaryFolder root;
  const Heard heard =
      Bench::shared().run({quantize_case("truncation")}, {.rows = {.dump = root.path()}, .mode = Mode::Accu});
  ASSERT_EQ(heard.records.size(), 1U);
  const AccuracyResult& accuracy = *heard.records[0].accuracy;
  const std::filesystem::path folder = root / "quantize_affine-fault-truncation";
  const HostTensor got = read_npy(folder / "q.got.npy");
  const HostTensor expected = read_npy(folder / "q.expected.npy");
  std::int64_t mismatches = 0;
  for (std::int64_t i = 0; i < got.numel(); ++i) mismatches += got.at(i) != expected.at(i) ? 1 : 0;
  EXPECT_EQ(mismatches, accuracy.mismatches);
  for (const char* input : {"x.npy", "scale.npy", "zero_point.npy"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / input)) << input;
  }
}

TEST(DumpOption, AFolderThatCannotBeWrittenEndsTheRun) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.write("file", "no folder");
  const Heard heard = Bench::shared().run({quantize_case("correct"), matmul_case("correct")},
                                          {.rows = {.dump = file}, .mode = Mode::Accu});
  EXPECT_THAT(heard.no_dump_because, HasSubstr(file.string()));
  ASSERT_EQ(heard.records.size(), 2U);
  for (const Record& record : heard.records) {
    EXPECT_EQ(record.status, Status::Missing) << "no row is to blame";
    EXPECT_THAT(record.reason, HasSubstr(file.string()));
  }
}

}  // namespace
}  // namespace assay::faults
