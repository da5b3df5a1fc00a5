#include "harness/commands/tune/tuning_points.h"

#include "tests/support/small_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// An op with parameters of several kinds, an impl with tunables, one without, and `auto`, which chooses the
/// former.
struct Points {
  Op op = test::flip_op();
  DeviceInfo device;
  std::deque<Case> cases;

  Points() {
    op.params = {shape("shape"), integer("M"), choice("dtype", {"f32", "f16"}), number("eps")};
    Impl& plain = op.impls.front();
    plain.tunables = {{.name = "tile", .doc = "rows", .allowed = {16, 32}},
                      {.name = "local_size", .min = 1, .max = 100, .doc = "threads"},
                      {.name = "bake", .fallback = 1, .min = 0, .max = 1, .doc = "constants"}};
    plain.build = [](const BuildContext&) {
      Program program;
      program.dispatches.emplace_back();
      return program;
    };
    plain.invalid_reason = [](const ImplPoint& point) -> std::optional<std::string> {
      if (point.params.integer("M") % point.tuned("tile", 1) == 0) return std::nullopt;
      return "the tile does not divide M";
    };
    op.impls.push_back({.name = "without", .build = plain.build});
    op.impls.push_back({.name = "auto"});
    op.impls.back().choose = [](const BuildContext&) { return std::vector<std::string>{"plain", "without"}; };
  }

  Case& add(std::int64_t m, const char* dtype = "f32", const char* impl = "plain") {
    Params params = test::shape_params({4, 8});
    params.set("M", m);
    params.set("dtype", dtype);
    params.set("eps", 0.5);
    Case made = test::make_case(op, std::move(params));
    made.impl = op.find_impl(impl);
    made.mode = Mode::Both;
    made.caches = Caches::Both;
    return cases.emplace_back(std::move(made));
  }

  std::vector<TuningClass> classes() const {
    std::vector<const Case*> all;
    for (const Case& one : cases) all.push_back(&one);
    return tuning_classes(all, device);
  }
};

TEST(TuningPoints, OfOneClassDifferInWholeNumbersAlone) {
  Points points;
  points.add(32);
  points.add(64, "f32", "auto");
  points.add(64, "f16");
  points.add(64);  // the same point as that of `auto`
  const std::vector<TuningClass> classes = points.classes();
  ASSERT_EQ(classes.size(), 4U);
  EXPECT_EQ(classes[0].impl->name, "plain");
  ASSERT_EQ(classes[0].points.size(), 2U);
  EXPECT_THAT(classes[0].points[1].at, ElementsAre(4, 8, 64));
  EXPECT_EQ(classes[0].points[1].base.impl->name, "plain") << "which `auto` chooses";
  EXPECT_EQ(classes[0].points[1].base.mode, Mode::Perf);
  EXPECT_EQ(classes[0].points[1].base.caches, Caches::Hot);
  EXPECT_FALSE(classes[0].points[1].is_also_hot);
  ASSERT_EQ(classes[1].points.size(), 2U);
  EXPECT_EQ(classes[1].points[1].base.caches, Caches::Cold);
  EXPECT_TRUE(classes[1].points[1].is_also_hot);
  EXPECT_EQ(classes[1].text(), "flip plain dtype=f32 cold");
  EXPECT_EQ(place_text(classes[0].points[1]), "shape=4x8 M=64");
  EXPECT_EQ(classes[2].text(), "flip plain dtype=f16");
  const std::vector<ValueRange> box{{4, 4}, {6, 11}, {1, 64}};
  const auto conditions = classes[2].conditions(box);
  EXPECT_EQ(conditions.size(), 3U) << "real numbers are none";
  EXPECT_EQ(conditions.at("dtype").word, "f16");
  EXPECT_EQ(conditions.at("M").ranges, (std::vector<ValueRange>{{1, 64}}));
  EXPECT_TRUE(conditions.at("shape").is_list);
  EXPECT_EQ(conditions.at("shape").ranges, (std::vector<ValueRange>{{4, 4}, {6, 11}}));
}

TEST(TuningPoints, AreNotOfCasesThatCannotBeTuned) {
  Points points;
  points.add(32).tune = {{"tile", 16}};
  points.add(32, "f32", "without");
  points.add(32).invalid = "it cannot run";
  FillSpec file;
  file.kind = FillKind::Npy;
  points.add(32).fills.edit()["x"] = file;
  EXPECT_THAT(points.classes(), IsEmpty());
}

TEST(TuningSpace, HasTheValuesThatAreAllowedAndTheCandidatesThatMayRun) {
  Points points;
  points.add(48);
  const TuningClass group = points.classes().at(0);
  const TuningSpace space = tuning_space(group.points.at(0), points.device);
  const auto values = [&](std::size_t axis) {
    std::vector<std::int64_t> all;
    for (const std::optional<std::int64_t>& value : space.axes.at(axis).values)
      all.push_back(value.value_or(-1));
    return all;
  };
  EXPECT_THAT(values(0), ElementsAre(-1, 16, 32));
  EXPECT_THAT(values(1), ElementsAre(-1, 1, 2, 4, 8, 16, 32, 64, 100)) << "powers of two and both ends";
  EXPECT_THAT(values(2), ElementsAre(-1, 0, 1));
  EXPECT_TRUE(space.may_run({0, 0, 0}));
  EXPECT_TRUE(space.may_run({1, 3, 1}));
  EXPECT_FALSE(space.may_run({2, 0, 0})) << "a tile of 32 does not divide 48";
  EXPECT_EQ(tune_of(space, {1, 3, 0}), (Tune{{"tile", 16}, {"local_size", 4}}));
  EXPECT_EQ(candidate_of(space, {{"tile", 16}, {"local_size", 4}}), (Candidate{1, 3, 0}));
  EXPECT_EQ(candidate_text(tune_of(space, {0, 0, 0})), "defaults");
  const TuningSpace few = tuning_space(group.points.at(0), points.device, {"bake"});
  ASSERT_EQ(few.axes.size(), 1U);
  EXPECT_EQ(few.axes[0].tunable, "bake");
}

/// The power of two after the last, and the value after the largest, are beyond 64 bits: there was no end.
TEST(TuningSpace, MayReachTheEndOfTheRange) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  Points points;
  points.op.impls.front().tunables = {{.name = "tile", .min = 1, .max = most, .doc = "rows"},
                                      {.name = "few", .min = most - 2, .max = most, .doc = "rows"}};
  points.add(32);
  const TuningClass group = points.classes().at(0);
  const TuningSpace space = tuning_space(group.points.at(0), points.device);
  ASSERT_EQ(space.axes.size(), 2U);
  const auto& powers = space.axes[0].values;
  ASSERT_EQ(powers.size(), 65U) << "the default, 63 powers of two and the end";
  EXPECT_EQ(powers[63], std::int64_t{1} << 62);
  EXPECT_EQ(powers[64], most);
  EXPECT_EQ(space.axes[1].values,
            (std::vector<std::optional<std::int64_t>>{std::nullopt, most - 2, most - 1, most}));
}

}  // namespace
}  // namespace assay::app
