#include "harness/commands/loaded_cases.h"

#include "harness/report/journal/journal.h"
#include "ops/registry.h"
#include "tests/support/error_text.h"
#include "tests/support/small_op.h"
#include "tests/support/tell.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <functional>
#include <optional>
#include <sstream>

namespace assay::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

/// A row of the op `flip` that took that long.
Record flip_row(double us, const std::function<void(Record&)>& change = {}) {
  Record record = test::timed("flip", "plain", us);
  record.info.op = "flip";
  record.info.params = "shape=4";
  record.info.forms = "x=buffer/WP y=buffer/WP";
  if (change) change(record);
  return record;
}

/// The time of `flip` that a report of these rows gives.
std::optional<double> time_in(const std::vector<Record>& records, const RunInfo& run = test::sample_run()) {
  const test::TemporaryFolder folder;
  Journal journal(folder.path() / "journal.jsonl");
  test::tell(journal, records, run);
  const Op op = test::flip_op();
  const Params params = test::shape_params({4});
  const chain::OpPoint point{&op, &op.impls.front(), params, op.tensors(params)};
  const std::vector<Form> forms(2, Form{Storage::Buffer, Layout::WP});
  return read_node_times(journal.path())->find(point, forms);
}

TEST(NodeTimesOfAReport, AreThoseOfRowsThatPassedHotWithOwnKernelsUntuned) {
  EXPECT_EQ(time_in({flip_row(2.5)}), 2.5);
  const Record other = flip_row(9, [](Record& row) { row.info.params = "shape=8"; });
  const std::vector<std::function<void(Record&)>> changes{
      [](Record& row) { row.info.cache = "cold"; },      [](Record& row) { row.info.versus = true; },
      [](Record& row) { row.info.shaders = "mine"; },    [](Record& row) { row.info.tune = "tile=4"; },
      [](Record& row) { row.status = Status::Suspect; }, [](Record& row) { row.info.params = "shape=8"; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    std::vector<Record> records{flip_row(2.5, changes[i]), other};
    records.back().info.id += "/other";
    EXPECT_EQ(time_in(records), std::nullopt) << "change " << i;
  }
}

TEST(NodeTimesOfAReport, AreRefusedWithoutARowOrFromARunWithRobustAccessOrTheValidationLayer) {
  EXPECT_THAT(test::error_of([] { time_in({flip_row(2, [](Record& row) { row.info.cache = "cold"; })}); }),
              HasSubstr("has a time"));
  RunInfo run = test::sample_run();
  run.robust_access = true;
  EXPECT_THAT(
      test::error_of([&] { time_in({flip_row(2)}, run); }),
      HasSubstr("' is with robust access (--robust-access), so its times are not those of a plain run"));
  run.robust_access = false;
  run.validation = true;
  EXPECT_THAT(test::error_of([&] { time_in({flip_row(2)}, run); }),
              HasSubstr("' is with the validation layer (--validation), so its times are not those of"));
}

constexpr const char* two_cases = R"(op: q8ta_pixel_shuffle
defaults:
  upscale_factor: 2
  qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
cases:
  - name: small
    shape: {each: [[1, 16, 4, 4], [2, 24, 8, 5]]}
    impl: {each: [fused, unfused]}
  - name: timed
    mode: perf
    with: {each: [{shape: [1, 16, 4, 4]}, {shape: [1, 24, 4, 4]}]}
)";

class VariedCases : public ::testing::Test {
 protected:
  LoadResult load_with(CaseOptions options) {
    options.files = {folder.write("c.yaml", two_cases)};
    return load(options, options.paths(), registry);
  }

  /// What is said about options that select cases.
  std::string notes_of(CaseOptions options) {
    std::ostringstream errors;
    options.files = {folder.write("c.yaml", two_cases)};
    load_and_complain(options, registry, errors);
    return errors.str();
  }
  std::string notes_of(const std::string& filter) { return notes_of(CaseOptions{.filter = filter}); }

  std::vector<std::string> ids(const CaseOptions& options) {
    const LoadResult loaded = load_with(options);
    std::vector<std::string> all;
    for (const Diagnostic& error : loaded.errors) all.push_back(to_string(error));
    for (const Case* one : selected_cases(options, loaded.cases)) all.push_back(one->id);
    return all;
  }

  test::TemporaryFolder folder;
  Registry registry = ops::registry();
};

// Else a part that was mistyped would be left out silently.
TEST_F(VariedCases, NameThePartsOfAFilterThatSelectNothing) {
  EXPECT_EQ(notes_of("*/small/*"), "");
  EXPECT_EQ(notes_of("nothing"), "") << "an error follows";
  EXPECT_THAT(notes_of("*/small/*:*/timd/*"),
              AllOf(HasSubstr("note: '*/timd/*' of --filter matches no case; the nearest: "
                              "q8ta_pixel_shuffle/timed/"),
                    EndsWith("\n")));
  EXPECT_THAT(notes_of("*small*:a:b:c:d:e:f"), HasSubstr("note: 2 more parts of --filter match no case\n"));
}

TEST_F(VariedCases, NameTheOpsAndImplsThatSelectNothing) {
  EXPECT_EQ(notes_of(CaseOptions{.impls = {"fused", "un*"}}), "");
  EXPECT_EQ(notes_of(CaseOptions{.impls = {"fusd"}}), "") << "an error follows";
  EXPECT_EQ(notes_of(CaseOptions{.impls = {"fusd", "tiled"}}), "") << "an error follows";
  EXPECT_EQ(notes_of(CaseOptions{.impls = {"fused", "unfusd", "tiled"}}),
            "note: 'unfusd' of --impl matches no case; did you mean 'unfused'?\n"
            "note: 'tiled' of --impl matches no case\n");
  EXPECT_EQ(notes_of(CaseOptions{.ops = {"q8ta_pixel_shufle", "q8ta_pixel_shuffle"}}),
            "note: 'q8ta_pixel_shufle' of --op matches no case; did you mean 'q8ta_pixel_shuffle'?\n");
}

TEST_F(VariedCases, HaveTheValueThatIsSetInsteadOfAProduct) {
  EXPECT_THAT(ids({.filter = "*/small/*", .values = {"shape=[1, 8, 2, 2]"}}),
              ElementsAre("q8ta_pixel_shuffle/small/1x8x2x2/4W4C.4W4C/fused",
                          "q8ta_pixel_shuffle/small/1x8x2x2/4W4C.4W4C/unfused"));
}

TEST_F(VariedCases, ComeFromSelectedPointsOnly) {
  EXPECT_THAT(ids({.filter = "*/2x24*/unfused", .values = {"shape=[1, 8, 2, 2]"}}),
              ElementsAre("q8ta_pixel_shuffle/small/1x8x2x2/4W4C.4W4C/unfused"));
}

TEST_F(VariedCases, OverrideValuesThatBelongTogether) {
  EXPECT_THAT(ids({.filter = "*/timed/*", .values = {"shape={each: [[1, 8, 2, 2], [1, 8, 3, 3]]}"}}),
              ElementsAre("q8ta_pixel_shuffle/timed/1x16x4x4/1x8x2x2/4W4C.4W4C/fused",
                          "q8ta_pixel_shuffle/timed/1x16x4x4/1x8x3x3/4W4C.4W4C/fused",
                          "q8ta_pixel_shuffle/timed/1x24x4x4/1x8x2x2/4W4C.4W4C/fused",
                          "q8ta_pixel_shuffle/timed/1x24x4x4/1x8x3x3/4W4C.4W4C/fused"));
}

TEST_F(VariedCases, ChangeImplsFormsAndModes) {
  EXPECT_THAT(ids({.filter = "*/small/1x16*/fused", .values = {"impl=unfused", "forms={y: buffer/4C1W}"}}),
              ElementsAre("q8ta_pixel_shuffle/small/1x16x4x4/4W4C.4C1W/unfused"));
  CaseOptions timed{.filter = "*/small/1x16*/fused", .mode = "perf", .values = {"mode=perf"}};
  EXPECT_THAT(ids(timed), ElementsAre("q8ta_pixel_shuffle/small/1x16x4x4/4W4C.4W4C/fused"));
}

TEST_F(VariedCases, AreFoundByTheirNewIds) {
  EXPECT_THAT(ids({.filter = "*/small/1x8x2x2/*/fused", .values = {"shape=[1, 8, 2, 2]"}}),
              ElementsAre("q8ta_pixel_shuffle/small/1x8x2x2/4W4C.4W4C/fused"));
}

TEST_F(VariedCases, ComeFromPointsThatDifferInTheirDataOnly) {
  const CaseOptions options{.files = {folder.write("fills.yaml", R"(op: q8ta_relu
cases:
  - name: fills
    shape: [4, 8]
    qparams: {x: {scale: 0.5, zero_point: 3}, y: {scale: 0.25, zero_point: 1}}
    fill: {each: [normal, {x: {constant: 3}}, ties]}
    seed: {each: [1, 2]}
)")},
                            .filter = "*/normal/1/*",
                            .values = {"shape=[8, 8]"}};
  const LoadResult loaded = load(options, options.paths(), registry);
  ASSERT_EQ(loaded.cases.size(), 1U);
  EXPECT_EQ(loaded.cases[0].id, "q8ta_relu/fills/normal/1/8x8/4W4C.4W4C/fused");
}

TEST_F(VariedCases, MayGetFurtherTensorsAndQParams) {
  EXPECT_THAT(ids({.filter = "*/2x24*/unfused",
                   .values = {"qparams={x: {scale: 0.5, zero_point: 0}, y: {scale: 0.25, "
                              "zero_point: 1}}"}}),
              ElementsAre("q8ta_pixel_shuffle/small/2x24x8x5/0.5_0.0.25_1/4W4C.4W4C/unfused"));
  const CaseOptions options{.files = {folder.write("linear.yaml", R"(op: linear_q8ta_q8csw
cases:
  - {name: small, M: {each: [1, 4]}, K: 64, N: 32, x: {scale: 0.031, zero_point: 7}, impl: tiled}
)")},
                            .filter = "*/small/4/*",
                            .values = {"bias=true"}};
  const LoadResult loaded = load(options, options.paths(), registry);
  ASSERT_EQ(loaded.cases.size(), 1U) << (loaded.errors.empty() ? "" : to_string(loaded.errors[0]));
  EXPECT_EQ(loaded.cases[0].params->integer("M"), 4);
  EXPECT_TRUE(loaded.cases[0].params->boolean("bias"));
}

TEST_F(VariedCases, AreNotNodesOfChains) {
  EXPECT_THAT(test::error_of([&] { load_with({.values = {"shape=[8]"}, .nodes = true}); }),
              HasSubstr("--nodes takes the nodes of chains"));
}

TEST_F(VariedCases, SayWhereAValueIsWrong) {
  const auto error_of = [&](const std::string& value) {
    const LoadResult loaded = load_with({.filter = "*/small/*", .values = {value}});
    return loaded.errors.empty() ? "" : to_string(loaded.errors.front());
  };
  EXPECT_THAT(error_of("shape=[1, 7, 2, 2]"), HasSubstr("--set:1:8: error: shape 1x7x2x2 has 7 channels"));
  EXPECT_THAT(error_of("shap=[1, 8]"), HasSubstr("--set:1:1: error: unknown key 'shap'"));
  EXPECT_THAT(error_of("shape"), HasSubstr("'shape' names no key: write KEY=VALUE"));
  EXPECT_THAT(error_of("shape\nPASS"), HasSubstr("'shape\\x0aPASS' names no key"));
  EXPECT_THAT(error_of("shape="), HasSubstr("is no value of a key"));
  EXPECT_THAT(error_of("shape=[1,"), HasSubstr("--set:1:11: error: YAML syntax"));
  EXPECT_THAT(error_of("name=other"), HasSubstr("would rename the case"));
  EXPECT_THAT(load_with({.values = {"shape=[4]", "shape=[8]"}}).errors.front().message,
              HasSubstr("sets the key a second time"));
}

TEST_F(VariedCases, ReplayOtherSizesOfWorkgroupToo) {
  EXPECT_THAT(ids({.filter = "*/timed/1x16*", .replays = true}),
              ElementsAre("q8ta_pixel_shuffle/timed/1x16x4x4/4W4C.4W4C/fused",
                          "q8ta_pixel_shuffle/timed/1x16x4x4/4W4C.4W4C/fused/local_size16",
                          "q8ta_pixel_shuffle/timed/1x16x4x4/4W4C.4W4C/fused/local_size64",
                          "q8ta_pixel_shuffle/timed/1x16x4x4/4W4C.4W4C/fused/local_size256"));
  const LoadResult loaded = load_with({.filter = "*/timed/1x16*", .replays = true});
  EXPECT_EQ(loaded.cases.back().tune, (std::map<std::string, std::int64_t>{{"local_size", 256}}));
  for (const Case& one : loaded.cases) EXPECT_EQ(one.mode, Mode::Accu) << "its answer is what is replayed";
}

TEST_F(VariedCases, ReplayOneSizeOfWorkgroupByItsId) {
  EXPECT_THAT(ids({.filter = "*/timed/1x16*/local_size64", .mode = "accu", .replays = true}),
              ElementsAre("q8ta_pixel_shuffle/timed/1x16x4x4/4W4C.4W4C/fused/local_size64"));
}

TEST_F(VariedCases, ReplayChangedCasesOfSelectedOnes) {
  const std::vector<std::string> all =
      ids({.filter = "*/timed/1x16*", .values = {"upscale_factor=4"}, .replays = true});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0], "q8ta_pixel_shuffle/timed/1x16x4x4/4/4W4C.4W4C/fused");
  EXPECT_THAT(ids({.filter = all[2], .values = {"upscale_factor=4"}, .replays = true}), ElementsAre(all[2]));
}

TEST_F(VariedCases, ReplayNoSizeOfWorkgroupThatIsExcluded) {
  EXPECT_THAT(ids({.filter = "*/timed/1x16*-*local_size16:*256", .mode = "perf", .replays = true}),
              ElementsAre("q8ta_pixel_shuffle/timed/1x16x4x4/4W4C.4W4C/fused",
                          "q8ta_pixel_shuffle/timed/1x16x4x4/4W4C.4W4C/fused/local_size64"));
}

TEST_F(VariedCases, ReplayNoOtherSizeThanTheOneThatACaseSets) {
  EXPECT_THAT(ids({.filter = "*/timed/1x16*", .values = {"tune={local_size: 32}"}, .replays = true}),
              ElementsAre("q8ta_pixel_shuffle/timed/1x16x4x4/local_size32/4W4C.4W4C/fused"));
}

}  // namespace

}  // namespace assay::app
