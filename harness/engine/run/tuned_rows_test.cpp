#include "harness/engine/run/tuned_rows.h"

#include "tests/support/small_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay {
namespace {

/// An op with an impl that has tunables, one that can run nothing, and `auto`, which prefers the latter.
struct TunedOp {
  Op op = test::flip_op();
  Tuning tuning{.device = "GPU"};
  DeviceInfo device;

  TunedOp() {
    op.params.push_back(integer("M"));
    Impl& plain = op.impls.front();
    plain.tunables = {{.name = "tile", .doc = "rows"}, {.name = "local_size", .doc = "threads"}};
    plain.build = [](const BuildContext& context) {
      Program program;
      program.dispatches.emplace_back();
      program.dispatches.back().label = std::to_string(context.tuned("tile", 8));
      return program;
    };
    plain.invalid_reason = [](const ImplPoint& point) -> std::optional<std::string> {
      if (point.params.integer("M") % point.tuned("tile", 1) == 0) return std::nullopt;
      return "the tile does not divide M";
    };
    op.impls.push_back({.name = "other", .build = plain.build});
    op.impls.back().unsupported_reason = [](const BuildContext&) { return "needs a better device"; };
    op.impls.push_back({.name = "auto"});
    op.impls.back().choose = [](const BuildContext&) { return std::vector<std::string>{"other", "plain"}; };
    tuning.entries.push_back({.op = "flip",
                              .impl = "plain",
                              .when = {{"M", {.ranges = {{1, 64}}, .word = {}}}},
                              .tune = {{"tile", 4}, {"local_size", 64}},
                              .line = 12});
  }

  Case at(std::int64_t m, const char* impl = "plain") const {
    Params params = test::shape_params({4});
    params.set("M", m);
    Case made = test::make_case(op, std::move(params));
    made.impl = op.find_impl(impl);
    made.mode = Mode::Perf;
    return made;
  }

  /// What reports say of a row of the case: "local_size=64 tile=4 (line 12)".
  std::string told(const Case& one, const Tuning* with, Mode mode = Mode::Perf,
                   Cache cache = Cache::Hot) const {
    const TunedRows rows({{{.test_case = &one, .mode = mode, .cache = cache}}}, device, with);
    return row_info(rows.groups().front().front(), {}).tuned;
  }
  std::string told(const Case& one) const { return told(one, &tuning); }
};

TEST(TunedRows, HaveTheValuesOfTheEntryAndSayItsLine) {
  const TunedOp bench;
  EXPECT_EQ(bench.told(bench.at(64)), "local_size=64 tile=4 (line 12)");
  EXPECT_EQ(bench.told(bench.at(68)), "") << "outside of the range";
  EXPECT_EQ(bench.told(bench.at(64), nullptr), "") << "no file";
}

TEST(TunedRows, OfImplAutoHaveTheEntryOfTheImplThatItChooses) {
  const TunedOp bench;
  const Case chosen = bench.at(64, "auto");
  EXPECT_EQ(bench.told(chosen), "local_size=64 tile=4 (line 12)");
  const TunedRows rows({{{.test_case = &chosen, .mode = Mode::Perf}}}, bench.device, &bench.tuning);
  const Case& made = *rows.groups().front().front().test_case;
  EXPECT_EQ(tune_for(made, *bench.op.find_impl("plain")), (Tune{{"tile", 4}, {"local_size", 64}}));
  EXPECT_EQ(tune_for(made, *bench.op.find_impl("other")), Tune{}) << "which has no entry";
}

TEST(TunedRows, OfACaseThatSetsATunableOfTheEntryKeepTheBuiltInDefaults) {
  TunedOp bench;
  Case one = bench.at(64);
  one.tune = {{"tile", 2}};
  EXPECT_EQ(bench.told(one), "") << "a local_size of 64 was measured with a tile of 4";
  bench.tuning.entries.front().tune = {{"local_size", 64}};
  EXPECT_EQ(bench.told(one), "local_size=64 (line 12)") << "the entry says nothing about the tile";
}

TEST(TunedRows, AreTimedOnesAlone) {
  const TunedOp bench;
  Case both = bench.at(64);
  both.mode = Mode::Both;
  EXPECT_EQ(bench.told(both, &bench.tuning, Mode::Perf), "local_size=64 tile=4 (line 12)");
  EXPECT_EQ(bench.told(both, &bench.tuning, Mode::Accu), "");
  const TunedRows rows({{{.test_case = &both, .mode = Mode::Accu}, {.test_case = &both, .mode = Mode::Perf}}},
                       bench.device, &bench.tuning);
  EXPECT_EQ(rows.groups().front().front().test_case, &both) << "an accuracy row keeps the case itself";
}

TEST(TunedRows, HaveEntriesOfTheirCacheAlone) {
  TunedOp bench;
  bench.tuning.entries.front().cache = Cache::Cold;
  const Case one = bench.at(64);
  EXPECT_EQ(bench.told(one, &bench.tuning, Mode::Perf, Cache::Cold), "local_size=64 tile=4 (line 12)");
  EXPECT_EQ(bench.told(one, &bench.tuning, Mode::Perf, Cache::Hot), "");
}

TEST(TunedRows, AreNotTunedWhereTheImplCannotRunWithTheValues) {
  const TunedOp bench;
  EXPECT_EQ(bench.told(bench.at(63)), "") << "a tile of 4 does not divide 63";
  TunedOp of_other;
  of_other.tuning.entries.front().impl = "other";
  EXPECT_EQ(of_other.told(of_other.at(64, "other")), "") << "which runs nowhere on this device";
}

}  // namespace
}  // namespace assay
