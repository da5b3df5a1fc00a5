#include "harness/cases/tuning/tuning.h"

#include "harness/cases/tests/case_file_test_support.h"
#include "tests/support/small_op.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

using test::TemporaryFolder;
using testing::HasSubstr;

/// Lets each tensor have two forms.
std::vector<TensorSpec> in_two_forms(std::vector<TensorSpec> tensors) {
  for (TensorSpec& tensor : tensors) tensor.forms.push_back({Storage::Buffer, Layout::P4W4C});
  return tensors;
}

/// An op with a parameter of every kind that a condition may be about, and one of a kind that it may not. Its
/// tensors have two forms, and its impl takes equal ones.
Registry tuned_ops() {
  Op op = test::flip_op();
  op.tensors = [flipped = op.tensors](const Params& params) { return in_two_forms(flipped(params)); };
  op.params = {shape("shape", rank(0, 4)), integer("M"), boolean("bias"), choice("dtype", {"f32", "f16"}),
               number("eps")};
  op.impls = {{.name = "plain"}, {.name = "auto"}};
  op.impls[0].tunables = {{.name = "local_size", .doc = "threads"},
                          {.name = "tile", .doc = "rows", .allowed = {16, 32, 64}}};
  op.impls[0].invalid_reason = [](const ImplPoint& point) {
    return point.forms[0] == point.forms[1] ? std::nullopt : std::optional<std::string>("x and y differ");
  };
  op.impls[1].choose = [](const BuildContext&) { return std::vector<std::string>{"plain"}; };
  return Registry({op});
}

TuningResult load_tuning_text(const TemporaryFolder& folder, const std::string& text) {
  static const Registry ops = tuned_ops();
  return load_tuning(folder.write("gpu.yaml", text), ops);
}

std::string tuning_errors(const std::string& text) {
  const TemporaryFolder folder;
  return test::messages(folder, load_tuning_text(folder, text).errors);
}

/// The errors of a file with these entries, each a flow map.
std::string entry_errors(const std::vector<std::string>& entries) {
  std::string text = "device: GPU\nentries:\n";
  for (const std::string& entry : entries) text += "  - {" + entry + "}\n";
  return tuning_errors(text);
}

Tuning good_tuning(const std::string& text) {
  const TemporaryFolder folder;
  TuningResult result = load_tuning_text(folder, text);
  EXPECT_EQ(test::messages(folder, result.errors), "");
  return result.tuning.value_or(Tuning{});
}

Case case_at(const Op& op, std::int64_t m, const std::string& dtype, Shape dims = {4, 8}) {
  Params params;
  params.set("shape", std::move(dims));
  params.set("M", m);
  params.set("bias", true);
  params.set("dtype", dtype);
  params.set("eps", 0.5);
  return test::make_case(op, std::move(params));
}

TEST(TuningFile, GivesThePointsInItsRangesTheirValues) {
  const Tuning tuning = good_tuning(R"(device: 'Acme: GPU 9'
driver: Acme 1.2
version: 0.1.0+abc
entries:
  - op: flip
    impl: plain
    when: {M: 1..64, dtype: f16, bias: true, shape: [4, 1..16]}
    forms: {x: buffer/WP}
    tune: {local_size: 128, tile: 32}
    ratio: 0.8
    interval: [0.7, 0.9]
    shapes: 3
    left_out_pct: 1.5
  - {op: flip, impl: plain, when: {M: 65..1000}, tune: {tile: 64}}
)");
  ASSERT_EQ(tuning.entries.size(), 2U);
  EXPECT_EQ(tuning.device, "Acme: GPU 9");
  EXPECT_EQ(tuning.entries[0].line, 5);
  EXPECT_EQ(tuning.entries[0].ratio_low, 0.7);
  const Registry ops = tuned_ops();
  const Op& op = *ops.find("flip");
  const auto found = [&](const Case& one) { return tuning.find(one, Cache::Hot, op.impls.front()); };
  EXPECT_EQ(found(case_at(op, 64, "f16")), &tuning.entries[0]);
  EXPECT_EQ(found(case_at(op, 65, "f16")), &tuning.entries[1]);
  EXPECT_EQ(found(case_at(op, 1001, "f16")), nullptr);
  EXPECT_EQ(found(case_at(op, 64, "f32")), nullptr) << "another choice";
  EXPECT_EQ(found(case_at(op, 64, "f16", {4, 17})), nullptr) << "outside of the shape's range";
  EXPECT_EQ(found(case_at(op, 64, "f16", {4, 8, 1})), nullptr) << "another rank";
  EXPECT_EQ(tuning.find(case_at(op, 64, "f16"), Cache::Hot, op.impls.back()), nullptr) << "another impl";
  Case other_form = case_at(op, 64, "f16");
  other_form.forms[0] = {Storage::Buffer, Layout::P4W4C};
  EXPECT_EQ(found(other_form), nullptr);
}

TEST(TuningFile, GivesAnEntryOfOneCacheToRowsWithThatCacheAlone) {
  const Tuning tuning =
      good_tuning("device: GPU\nentries:\n  - {op: flip, impl: plain, cache: cold, tune: {tile: 32}}\n");
  const Registry ops = tuned_ops();
  const Op& op = *ops.find("flip");
  const Case one = case_at(op, 64, "f16");
  EXPECT_EQ(tuning.find(one, Cache::Cold, op.impls.front()), &tuning.entries[0]);
  EXPECT_EQ(tuning.find(one, Cache::Hot, op.impls.front()), nullptr);
}

TEST(TuningFile, IsReadAsItIsWritten) {
  Tuning tuning{.device = "Acme's GPU", .driver = "1", .version = "0.1.0+abc", .entries = {}};
  TuningEntry entry{.op = "flip", .impl = "plain", .tune = {{"tile", 32}}};
  entry.when = {{"M", {.ranges = {{1, 64}}, .word = {}}},
                {"bias", {.ranges = {}, .word = "false"}},
                {"shape", {.ranges = {{4, 4}}, .word = {}, .is_list = true}}};
  entry.forms = {{"x", "buffer/WP"}};
  entry.cache = Cache::Cold;
  entry.ratio = 0.75;
  entry.ratio_low = 0.5;
  entry.ratio_high = 1;
  entry.shapes = 2;
  entry.left_out_pct = 0.25;
  tuning.entries = {entry};
  const std::string text = tuning_yaml(tuning);
  const Tuning read = good_tuning(text);
  ASSERT_EQ(read.entries.size(), 1U) << text;
  EXPECT_EQ(read.entries[0].when, entry.when) << text;
  EXPECT_EQ(read.entries[0].cache, Cache::Cold) << text;
  EXPECT_EQ(read.device, tuning.device);
  EXPECT_EQ(tuning_yaml(read), text);
  EXPECT_EQ(good_tuning(tuning_yaml({.device = "GPU"})).entries.size(), 0U);
  entry.when["shape"].ranges.clear();
  tuning.entries = {entry};
  EXPECT_EQ(good_tuning(tuning_yaml(tuning)).entries.at(0).when, entry.when) << "a shape without dims";
}

TEST(TuningFile, ReportsErrorsAtTheirPlace) {
  EXPECT_EQ(tuning_errors("device: GPU\nentries:\n  - {op: flap, impl: plain, tune: {tile: 16}}\n"),
            "gpu.yaml:3:10: error: unknown op 'flap'\n"
            "      - {op: flap, impl: plain, tune: {tile: 16}}\n"
            "             ^\n"
            "    did you mean 'flip'?");
  EXPECT_THAT(tuning_errors("device: [a\n"), HasSubstr("gpu.yaml:"));
  EXPECT_THAT(tuning_errors(""), HasSubstr("a tuning file is a map with a 'device' and a list 'entries'"));
  EXPECT_THAT(tuning_errors("device: GPU\n"), HasSubstr("the file has no 'entries'"));
  EXPECT_THAT(tuning_errors("entries: []\n"), HasSubstr("the file has no 'device'"));
  EXPECT_THAT(tuning_errors("device: GPU\nentries: 5\n"),
              HasSubstr("'entries' must be a list of entries, got"));
  EXPECT_THAT(tuning_errors("device: GPU\nentries: [5]\n"), HasSubstr("an entry is a map"));
  EXPECT_THAT(tuning_errors("device: GPU\nentries: []\nfor: x\n"), HasSubstr("unknown key 'for'"));
  EXPECT_THAT(tuning_errors("device: GPU\ndevice: GPU\nentries: []\n"), HasSubstr("gpu.yaml:2:1: error: "));
}

struct BadEntry {
  std::string entry;
  std::string message;
};

TEST(TuningFile, RefusesWhatNoEntryMaySay) {
  const std::string start = "op: flip, impl: plain, ";
  const std::vector<BadEntry> all{
      {"op: flip, impl: plane, tune: {tile: 16}", "unknown impl of flip: 'plane'"},
      {"op: flip, impl: auto, tune: {tile: 16}", "'auto' chooses an impl and has no tunables of its own"},
      {"op: flip, tune: {tile: 16}", "the entry has no 'impl'"},
      {"op: 5, impl: plain, tune: {tile: 16}", "unknown op '5'"},
      {"op: [flip], impl: plain, tune: {tile: 16}", "'op' must be text, got a list"},
      {start + "tune: {tyle: 16}", "unknown tunable of flip impl 'plain': 'tyle'"},
      {start + "tune: {tile: 17}", "tune.tile must be one of 16, 32, 64, got 17"},
      {start + "tune: {local_size: 0}", "tune.local_size must be in 1..1024, got 0"},
      {start + "tune: {local_size: 99999999999999999999}", "'local_size' must be a 64-bit decimal integer"},
      {start + "tune: {local_size: 9223372036854775807}",
       "tune.local_size must be in 1..1024, got 9223372036"},
      {start + "tune: {tile: [16]}", "'tile' must be a 64-bit decimal integer, got a list"},
      {start + "tune: {tile: 16, tile: 32}", "tile"},
      {start + "tune: {}", "'tune' sets nothing"},
      {start + "tune: 3", "'tune' must be a map of tunables and their values"},
      {start + "when: {M: 1}", "the entry has no 'tune'"},
      {start + "when: 7, tune: {tile: 16}", "'when' must be a map of parameters and their ranges"},
      {start + "when: {K: 1}, tune: {tile: 16}", "unknown parameter of flip: 'K'"},
      {start + "when: {M: 9..1}, tune: {tile: 16}", "'M' is the empty range 9..1"},
      {start + "when: {M: 1..}, tune: {tile: 16}",
       "'M' must be a 64-bit decimal integer, or a range of them"},
      {start + "when: {M: 1..2..3}, tune: {tile: 16}", "or a range of them"},
      {start + "when: {M: 1..99999999999999999999}, tune: {tile: 16}", "or a range of them"},
      {start + "when: {M: f16}, tune: {tile: 16}", "or a range of them"},
      {start + "when: {M: [1]}, tune: {tile: 16}", "or a range of them"},
      {start + "when: {shape: 4}, tune: {tile: 16}", "'shape' must be a list of ranges"},
      {start + "when: {shape: [a]}, tune: {tile: 16}", "or a range of them"},
      {start + "when: {dtype: f64}, tune: {tile: 16}", "unknown choice for dtype: 'f64'"},
      {start + "when: {bias: 1}, tune: {tile: 16}", "'bias' must be true or false"},
      {start + "when: {eps: 1}, tune: {tile: 16}", "'eps' cannot be a condition"},
      {start + "cache: both, tune: {tile: 16}", "unknown cache 'both'"},
      {start + "forms: {x: buffer/XX}, tune: {tile: 16}", "unknown form 'buffer/XX'"},
      {start + "forms: {x: texture3d/CP}, tune: {tile: 16}",
       "gpu.yaml:3:40: error: tensor 'x' of flip does not accept the form texture3d/CP; it accepts "
       "buffer/WP, buffer/4W4C"},
      {start + "forms: {x: buffer/WP, y: buffer/4W4C}, tune: {tile: 16}",
       "gpu.yaml:3:29: error: impl 'plain' of flip takes no point with these forms: x and y differ"},
      {start + "forms: {z: buffer/WP}, tune: {tile: 16}",
       "gpu.yaml:3:37: error: unknown tensor of flip: 'z'; known: x, y"},
      {start + "when: {shape: [1, 1, 1, 1, 1]}, tune: {tile: 16}",
       "'shape' has 0 to 4 values, and this is a list of 5"},
      {start + "forms: {'x: y': buffer/WP}, tune: {tile: 16}", "the name of a tensor has letters, digits"},
      {start + "tune: {tile: 16}, shapes: 0", "'shapes' must be 1 or more, got 0"},
      {start + "forms: [x], tune: {tile: 16}", "'forms' must be a map of tensors and their forms"},
      {start + "tune: {tile: 16}, ratio: -1", "'ratio' must be more than 0"},
      {start + "tune: {tile: 16}, ratio: nan", "'ratio' must be a finite decimal number"},
      {start + "tune: {tile: 16}, interval: [1, 0.5]", "'interval' ends before it begins"},
      {start + "tune: {tile: 16}, interval: [1]", "'interval' must be a list of two numbers"},
      {start + "tune: {tile: 16}, shapes: 1e99", "'shapes' must be a 64-bit decimal integer"},
      {start + "tune: {tile: 16}, colour: red", "unknown key 'colour'"}};
  for (const BadEntry& bad : all) {
    const std::string told = entry_errors({bad.entry});
    EXPECT_THAT(told, HasSubstr(bad.message)) << bad.entry;
    EXPECT_THAT(told, HasSubstr("gpu.yaml:3:")) << bad.entry;
  }
}

/// The reason was that of the last form of y, which is another one: not why x cannot have its form.
TEST(TuningFile, TellsWhyAnImplTakesNoPointWithAForm) {
  Op op = test::flip_op();
  op.tensors = [flipped = op.tensors](const Params& params) {
    std::vector<TensorSpec> tensors = in_two_forms(flipped(params));
    for (TensorSpec& tensor : tensors) tensor.forms.push_back({Storage::Buffer, Layout::P4C1W});
    return tensors;
  };
  op.impls[0].tunables = {{.name = "tile", .doc = "rows", .allowed = {16, 32, 64}}};
  op.impls[0].invalid_reason = [](const ImplPoint& point) -> std::optional<std::string> {
    if (point.forms[0] != point.forms[1]) return "x and y differ";
    if (point.forms[0].layout != Layout::WP) return "it takes only WP";
    return std::nullopt;
  };
  const Registry ops({op});
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "gpu.yaml",
      "device: GPU\nentries:\n  - {op: flip, impl: plain, forms: {x: buffer/4W4C}, tune: {tile: 16}}\n");
  EXPECT_THAT(test::messages(folder, load_tuning(file, ops).errors),
              HasSubstr("impl 'plain' of flip takes no point with these forms: it takes only WP"));
}

TEST(TuningFile, RefusesTwoEntriesAboutOnePoint) {
  const std::string plain = "op: flip, impl: plain, tune: {tile: 16}";
  const auto with = [&](const std::string& more) { return plain + ", " + more; };
  const std::string overlap = "some point of flip impl 'plain' has this entry and that of line 3";
  const auto pair = [&](const std::string& one, const std::string& other) {
    return entry_errors({with(one), with(other)});
  };
  EXPECT_THAT(entry_errors({plain, plain}), HasSubstr("gpu.yaml:4:5: error: " + overlap));
  EXPECT_THAT(pair("when: {M: 1..64}", "when: {M: 64..128}"), HasSubstr(overlap));
  EXPECT_THAT(pair("when: {M: 1..64}", "when: {dtype: f16}"), HasSubstr(overlap));
  EXPECT_THAT(pair("when: {shape: [1..4, 2]}", "when: {shape: [4, 2]}"), HasSubstr(overlap));
  EXPECT_THAT(pair("forms: {x: buffer/WP}", "forms: {y: buffer/WP}"), HasSubstr(overlap));
  EXPECT_EQ(pair("when: {M: 1..64}", "when: {M: 65..128}"), "");
  EXPECT_EQ(pair("when: {M: 1..64, dtype: f16}", "when: {M: 1..64, dtype: f32}"), "");
  EXPECT_EQ(pair("when: {shape: [1, 2]}", "when: {shape: [1, 2, 3]}"), "");
  EXPECT_THAT(pair("when: {M: 1}", "cache: cold"), HasSubstr(overlap));
  EXPECT_EQ(pair("cache: hot", "cache: cold"), "");
  EXPECT_EQ(pair("forms: {x: buffer/WP}", "forms: {x: buffer/4W4C}"), "");
}

TEST(TuningFile, RefusesMoreEntriesThanItCompares) {
  std::vector<std::string> entries;
  for (std::size_t i = 0; i <= most_tuning_entries; ++i)
    entries.push_back("op: flip, impl: plain, when: {M: " + std::to_string(i) + "}, tune: {tile: 16}");
  EXPECT_THAT(entry_errors(entries), HasSubstr("'entries' has 1001 entries, and a tuning file has at most"));
  entries.pop_back();
  EXPECT_EQ(entry_errors(entries), "");
}

}  // namespace
}  // namespace assay
