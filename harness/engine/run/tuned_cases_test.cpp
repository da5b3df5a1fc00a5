#include "harness/engine/run/tuned_cases.h"

#include "harness/engine/run/planned_rows.h"
#include "tests/support/small_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
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

  /// What reports say of the case: "tile=4 local_size=64 (line 12)".
  std::string told(const Case& one, const Tuning* with) const {
    const std::array cases{&one};
    const TunedCases tuned(cases, device, with);
    return row_info({tuned.all().front(), Mode::Perf}, {}).tuned;
  }
  std::string told(const Case& one) const { return told(one, &tuning); }
};

TEST(TunedCases, HaveTheValuesOfTheEntryAndSayItsLine) {
  const TunedOp bench;
  EXPECT_EQ(bench.told(bench.at(64)), "local_size=64 tile=4 (line 12)");
  EXPECT_EQ(bench.told(bench.at(68)), "") << "outside of the range";
  EXPECT_EQ(bench.told(bench.at(64), nullptr), "") << "no file";
}

TEST(TunedCases, OfImplAutoHaveTheEntryOfTheImplThatItChooses) {
  const TunedOp bench;
  const Case chosen = bench.at(64, "auto");
  EXPECT_EQ(bench.told(chosen), "local_size=64 tile=4 (line 12)");
  const std::array cases{&chosen};
  const TunedCases tuned(cases, bench.device, &bench.tuning);
  const Case& made = *tuned.all().front();
  EXPECT_EQ(tune_for(made, *bench.op.find_impl("plain")), (Tune{{"tile", 4}, {"local_size", 64}}));
  EXPECT_EQ(tune_for(made, *bench.op.find_impl("other")), Tune{}) << "which has no entry";
}

TEST(TunedCases, KeepTheValuesThatTheCaseSets) {
  const TunedOp bench;
  Case one = bench.at(64);
  one.tune = {{"tile", 2}};
  EXPECT_EQ(bench.told(one), "local_size=64 (line 12)");
  const std::array cases{&one};
  const TunedCases tuned(cases, bench.device, &bench.tuning);
  EXPECT_EQ(tune_for(*tuned.all().front(), bench.op.impls.front()), (Tune{{"tile", 2}, {"local_size", 64}}));
  EXPECT_EQ(row_info({tuned.all().front(), Mode::Perf}, {}).tune, "tile=2") << "which is the case's own";
  one.tune["local_size"] = 32;
  EXPECT_EQ(bench.told(one), "") << "nothing is left open";
}

TEST(TunedCases, AreNotTunedWhereTheImplCannotRunWithTheValues) {
  const TunedOp bench;
  EXPECT_EQ(bench.told(bench.at(63)), "") << "a tile of 4 does not divide 63";
  TunedOp of_other;
  of_other.tuning.entries.front().impl = "other";
  EXPECT_EQ(of_other.told(of_other.at(64, "other")), "") << "which runs nowhere on this device";
}

}  // namespace
}  // namespace assay
