#include "harness/commands/points/random_point.h"

#include "harness/cases/expansion/load.h"
#include "harness/commands/points/written_cases.h"
#include "ops/registry.h"
#include "tests/support/small_op.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace assay::app {
namespace {

const Registry& all_ops() {
  static const Registry made = ops::registry();
  return made;
}

std::vector<Case> points_of(const Op& op, std::uint64_t seed, int count) {
  Draw draw(seed);
  std::vector<Case> points;
  for (int i = 0; i < count; ++i) {
    if (std::optional<Case> made = RandomPoints(op).next(draw)) points.push_back(*std::move(made));
  }
  return points;
}

std::string texts_of(const std::vector<Case>& points) {
  std::string all;
  for (const Case& one : points) all += case_yaml(one, "p");
  return all;
}

TEST(RandomPoints, AreThoseOfTheirSeed) {
  const Op& op = *all_ops().find("q8ta_conv2d");
  EXPECT_EQ(texts_of(points_of(op, 3, 20)), texts_of(points_of(op, 3, 20)));
  EXPECT_NE(texts_of(points_of(op, 3, 20)), texts_of(points_of(op, 4, 20)));
}

TEST(RandomPoints, OfEveryOpAreDrawnAndNearlyAllAreValidCases) {
  const test::TemporaryFolder folder;
  for (const Op& op : all_ops().ops()) {
    const std::vector<Case> points = points_of(op, 5, 60);
    ASSERT_GE(points.size(), 57U) << op.name;
    EXPECT_GE(Candidates(all_ops(), folder / (op.name + ".yaml")).valid(points).size(), 54U) << op.name;
  }
}

TEST(RandomPoints, HaveSiblingsThatRunTheSameKernels) {
  for (const Op& op : all_ops().ops()) {
    Draw draw(9);
    std::size_t made = 0;
    for (int i = 0; i < 10; ++i) {
      const Case base = RandomPoints(op).next(draw).value();
      for (int n = 0; n < 4; ++n) {
        const std::optional<Case> one = RandomPoints(op).sibling(base, draw);
        if (!one) continue;
        ++made;
        EXPECT_EQ(one->impl, base.impl);
        EXPECT_EQ(one->tune, base.tune);
        for (const ParamSpec& spec : op.params) {
          if (spec.kind == ParamSpec::Kind::Choice) {
            EXPECT_EQ(one->params->choice(spec.name), base.params->choice(spec.name)) << op.name;
          }
        }
      }
    }
    EXPECT_GE(made, 36U) << op.name;
  }
}

TEST(RandomPoints, StayWithinTheLimits) {
  const PointLimits limits{.elements = 500, .operations = 3000};
  for (const Op& op : all_ops().ops()) {
    Draw draw(8);
    for (int i = 0; i < 20; ++i) {
      const std::optional<Case> made = RandomPoints(op, limits).next(draw);
      if (!made) continue;
      EXPECT_LE(elements_of(*made), 500) << op.name;
      EXPECT_LE(operations_of(*made), 3000) << op.name;
    }
  }
}

TEST(RandomPoints, ReachEveryImplFormAndChoice) {
  const Op& op = *all_ops().find("quantize_affine");
  std::set<std::string> seen;
  for (const Case& one : points_of(op, 1, 300)) {
    seen.insert(one.impl->name);
    for (const Form form : one.forms) seen.insert(to_string(form));
    for (const ParamSpec& spec : op.params) {
      if (spec.kind == ParamSpec::Kind::Choice) seen.insert(one.params->choice(spec.name));
    }
  }
  for (const Impl& impl : op.impls) EXPECT_TRUE(seen.contains(impl.name)) << impl.name;
  for (const ParamSpec& spec : op.params) {
    for (const std::string& choice : spec.choices) EXPECT_TRUE(seen.contains(choice)) << choice;
  }
  for (const char* form : {"buffer/WP", "texture3d/WP"}) EXPECT_TRUE(seen.contains(form)) << form;
}

/// How many of 8000 points of the op are such.
std::size_t count_of(const std::string& op, const std::function<bool(const Case&)>& is_such) {
  const std::vector<Case> points = points_of(*all_ops().find(op), 6, 8000);
  return static_cast<std::size_t>(std::ranges::count_if(points, is_such));
}

// Kernels with faults at such points were once found to pass all written cases.
TEST(RandomPoints, ReachCornersThatWrittenCasesMissed) {
  EXPECT_GE(count_of("conv2d_q8csw",
                     [](const Case& one) {
                       return one.impl->name == "direct" && one.params->integer("groups") > 4;
                     }),
            20U);
  EXPECT_GE(count_of("q8ta_conv2d",
                     [](const Case& one) {
                       return one.params->ints("kernel") == std::vector<std::int64_t>{1, 1} &&
                              one.params->integer("groups") > 1 && one.impl->name == "general" &&
                              one.forms.front() == Form{Storage::Buffer, Layout::P4W4C};
                     }),
            4U);
  EXPECT_GE(count_of("q8ta_linear",
                     [](const Case& one) { return one.params->choice("epilogue") == "fixed_point"; }),
            1200U);
}

// Written cases have sizes near multiples of 4 and small kernels, too.
TEST(RandomPoints, HaveSizesAndListsOfAnyNumber) {
  EXPECT_GE(count_of("q8ta_conv2d_pw", [](const Case& one) { return one.params->integer("C") % 8 == 6; }),
            400U);
  EXPECT_GE(count_of("q8ta_conv2d_transposed",
                     [](const Case& one) { return std::ranges::max(one.params->ints("stride")) > 5; }),
            200U);
  EXPECT_GE(count_of("linear_q4gsw",
                     [](const Case& one) {
                       return one.params->integer("K") / one.params->integer("group_size") % 7 == 0;
                     }),
            20U);
}

/// The width of the whole 64-bit range is no signed integer, and one more than it is 0, by which it was
/// divided.
TEST(ValueDraw, IntegersMayHaveTheWhole64BitRange) {
  using Limits = std::numeric_limits<std::int64_t>;
  const std::vector<std::pair<std::int64_t, std::int64_t>> ranges{{Limits::min(), Limits::max()},
                                                                  {Limits::min(), 0},
                                                                  {-1, Limits::max()},
                                                                  {1, Limits::max()},
                                                                  {Limits::max() - 2, Limits::max()},
                                                                  {Limits::min(), Limits::min() + 99},
                                                                  {-3, 3}};
  for (const auto& [low, high] : ranges) {
    Op op;
    op.params = {integer("earlier").at_least(1).at_most(Limits::max()),
                 integer("i").at_least(low).at_most(high)};
    Params params;
    params.set("earlier", Limits::max() / 2);
    Draw draw(3);
    ValueDraw values(op, 1000, draw);
    for (int i = 0; i < 1000; ++i) {
      const auto drawn = std::get<std::int64_t>(values.value(op.params.back(), params));
      EXPECT_GE(drawn, low);
      EXPECT_LE(drawn, high);
    }
  }
}

/// `assay fuzz` ended: it drew as many as the shape has, which no list of two may have.
TEST(ValueDraw, ListsHaveTheirOwnRankWhereTheShapesIsNone) {
  Op op;
  op.params = {shape("shape", rank(4)), ints("window", rank(2)).at_least(1).at_most(9)};
  Params params;
  params.set("shape", std::vector<std::int64_t>{1, 2, 3, 4});
  Draw draw(3);
  ValueDraw values(op, 1000, draw);
  for (int i = 0; i < 200; ++i)
    EXPECT_NO_THROW(op.params.back().check(values.value(op.params.back(), params)));
}

TEST(RandomPoints, HaveEveryParameter) {
  Op op = test::flip_op();
  op.params.push_back(ints("window", rank(2)).at_least(1).at_most(9));
  Draw draw(4);
  for (int i = 0; i < 20; ++i) {
    const std::optional<Case> made = RandomPoints(op).next(draw);
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->params->ints("window").size(), 2U);
  }
  op.params.back().at_least(10);  // so that it can have no value
  EXPECT_FALSE(RandomPoints(op).next(draw).has_value());
}

/// 2^63 is no signed integer, and what it was rounded to became the least value.
TEST(RandomPoints, HaveTunablesUpToTheEndOfTheRange) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  Op op = test::flip_op();
  op.impls.front().tunables = {{.name = "tile", .min = most - 9, .max = most, .doc = "rows"}};
  Draw draw(4);
  int tuned = 0, largest = 0;
  for (int i = 0; i < 600; ++i) {
    const std::optional<Case> made = RandomPoints(op).next(draw);
    if (!made || made->tune.empty()) continue;
    ++tuned;
    EXPECT_GE(made->tune.at("tile"), most - 9);
    if (made->tune.at("tile") == most) ++largest;
  }
  EXPECT_GE(tuned, 40);
  EXPECT_GT(2 * largest, tuned);
}

TEST(ShortCaseFile, IsReadAsTheCaseThatItWasWrittenFrom) {
  const test::TemporaryFolder folder;
  for (const Op& op : all_ops().ops()) {
    Candidates written(all_ops(), folder / "long.yaml");
    const std::vector<Case> points = points_of(op, 2, 8);
    for (const Candidates::Loaded& point : written.valid(points)) {
      const std::string text = short_case_file(point.loaded, "short");
      const LoadResult read =
          load_cases(std::array{std::filesystem::path(folder.write("short.yaml", text))}, all_ops());
      ASSERT_TRUE(read.errors.empty()) << text << to_string(read.errors.front());
      ASSERT_EQ(read.cases.size(), 1U);
      EXPECT_EQ(read.cases.front().data_key, point.loaded.data_key) << text;
      EXPECT_EQ(read.cases.front().impl, point.loaded.impl) << text;
      EXPECT_EQ(read.cases.front().forms, point.loaded.forms) << text;
      EXPECT_EQ(read.cases.front().tune, point.loaded.tune) << text;
    }
  }
}

}  // namespace
}  // namespace assay::app
