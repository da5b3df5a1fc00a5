#include "harness/commands/tune/tuning_table.h"

#include "harness/commands/points/draw.h"
#include "tests/support/error_text.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {
namespace {

using test::TemporaryFolder;
using testing::HasSubstr;

// Times of three kernels by formulas that resemble what their tunables do on a GPU. They say how the searches
// behave on such tables, nothing about a device.

/// The values of a kernel's tunables, and how long it takes with all of them; nothing where it cannot run.
struct Kernel {
  struct Axis {
    std::string tunable;
    std::vector<std::int64_t> values;
    std::int64_t of_impl = 0;  ///< what the impl takes if the tunable is not set
  };
  std::string name;
  std::vector<Axis> axes;
  std::function<std::optional<double>(const std::vector<std::int64_t>& values)> time;
};

double log2_away(std::int64_t value, double best) {
  return std::abs(std::log2(static_cast<double>(value)) - std::log2(best));
}

/// A matrix product: tiles that divide each other, a slab that must fit into shared memory, stages.
Kernel matrix_product() {
  return {.name = "matrices",
          .axes = {{"tile_m", {16, 32, 64, 128, 256}, 64},
                   {"tile_n", {16, 32, 64, 128, 256}, 64},
                   {"tile_k", {32, 64, 128, 256}, 64},
                   {"subgroup_m", {16, 32, 64, 128}, 32},
                   {"stages", {1, 2, 3}, 1}},
          .time = [](const std::vector<std::int64_t>& v) -> std::optional<double> {
            const std::int64_t m = v[0], n = v[1], k = v[2], subgroup_m = v[3], stages = v[4];
            if (subgroup_m > m || (m + n) * k * stages > 98304) return std::nullopt;
            double time = 100 * (1 + 0.25 * log2_away(m, 128) + 0.2 * log2_away(n, 128));
            time *= 1 + 0.15 * log2_away(m / subgroup_m, 2) + (stages == 2 ? 0 : 0.2);
            return time * (1 + 0.1 * log2_away(k * stages, 128));  // both hide latency
          }};
}

/// A product of one row: workers that share K, the size of a workgroup, loads at once, columns.
Kernel row_product() {
  return {.name = "row",
          .axes = {{"workers", {1, 2, 4, 8, 16, 32, 64, 128}, 8},
                   {"local_size", {8, 16, 32, 64, 128, 256, 512}, 64},
                   {"units", {1, 2, 4, 8}, 2},
                   {"columns", {4, 8}, 4}},
          .time = [](const std::vector<std::int64_t>& v) -> std::optional<double> {
            const std::int64_t workers = v[0], size = v[1], units = v[2], columns = v[3];
            if (workers > size) return std::nullopt;
            double time = 5 * (1 + 0.3 * log2_away(workers * units, 64));  // bytes in flight
            time *= 1 + 0.15 * log2_away(size, 128) + (units == 8 && columns == 8 ? 0.8 : 0);  // spills
            return time * (columns == 8 && workers < 16 ? 0.95 : 1);
          }};
}

/// A copy between layouts: the sides of a workgroup, of which 32 in a row are fast and more than 1024 fail.
Kernel copy() {
  const std::vector<std::int64_t> sides{1, 2, 4, 8, 16, 32, 64, 128, 256};
  return {.name = "copy",
          .axes = {{"local_x", sides, 8}, {"local_y", sides, 8}, {"local_z", {1, 2, 4, 8, 16, 32, 64}, 1}},
          .time = [](const std::vector<std::int64_t>& v) -> std::optional<double> {
            const std::int64_t x = v[0], y = v[1], z = v[2];
            if (x * y * z > 1024) return std::nullopt;
            double time = 20 * (1 + 0.3 * std::max(0.0, 5 - std::log2(static_cast<double>(x))));
            return time * (1 + 0.12 * log2_away(x * y * z, 256) + 0.05 * std::log2(static_cast<double>(z)));
          }};
}

/// Adds all candidates, with half a percent of noise, those that leave tunables to the impl included.
void add(std::vector<TableRow>& table, const Kernel& kernel, Draw& draw) {
  std::vector<std::size_t> places(kernel.axes.size(), 0);
  double of_defaults = 0;
  for (bool is_done = false; !is_done;) {
    std::vector<std::int64_t> values;
    Tune tune;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Kernel::Axis& axis = kernel.axes[i];
      values.push_back(places[i] == 0 ? axis.of_impl : axis.values[places[i] - 1]);
      if (places[i] != 0) tune[axis.tunable] = values.back();
    }
    if (const std::optional<double> time = kernel.time(values)) {
      if (tune.empty()) of_defaults = *time;
      const double ratio = *time / of_defaults * draw.between(0.995, 1.005);
      if (!tune.empty()) {
        table.push_back({.kernel = kernel.name,
                         .tune = tune,
                         .status = Status::Pass,
                         .ratio = Ratio{.median = ratio, .interval = {ratio, ratio}, .pairs = 7},
                         .time_us = *time});
      }
    }
    is_done = true;
    for (std::size_t i = 0; i < places.size() && is_done; ++i) {
      places[i] = (places[i] + 1) % (kernel.axes[i].values.size() + 1);
      is_done = places[i] == 0;
    }
  }
}

std::vector<TableRow> three_kernels() {
  std::vector<TableRow> table;
  Draw draw(1);
  for (const Kernel& kernel : {matrix_product(), row_product(), copy()}) add(table, kernel, draw);
  return table;
}

TEST(CompareSearches, CoordinateSearchBeatsRandomSearchOnThreeKernelsAtEqualBudget) {
  const std::vector<ComparedSearches> compared = compare_searches(three_kernels());
  ASSERT_EQ(compared.size(), 9U) << "three kernels, three budgets";
  for (const ComparedSearches& one : compared) {
    const std::string where = text_of(std::vector{one});
    EXPECT_LT(one.best_ratio, 0.8) << where;
    EXPECT_GE(one.coordinate, one.best_ratio) << where;
    EXPECT_LT(one.coordinate, one.random) << where;
    EXPECT_GT(one.share_not_worse, 0.6) << where;
  }
}

TEST(TuningTable, IsReadAsItIsWritten) {
  std::vector<TableRow> table = three_kernels();
  table.resize(3);
  table.push_back({.kernel = "copy \"a, b\"", .tune = {}, .status = Status::Crash, .ratio = {}});
  const TemporaryFolder folder;
  const std::string text = tuning_table_csv(table);
  const std::vector<TableRow> read = read_tuning_table(folder.write("t.csv", text));
  ASSERT_EQ(read.size(), 4U);
  EXPECT_EQ(read[1].tune, table[1].tune);
  EXPECT_EQ(read[3].status, Status::Crash);
  EXPECT_FALSE(read[3].ratio);
  EXPECT_EQ(tuning_table_csv(read), text);
}

TEST(TuningTable, ErrorsNameTheLine) {
  const TemporaryFolder folder;
  const std::string header = "kernel,tune,status,ratio,ratio_low,ratio_high,time_us\n";
  const auto told = [&](const std::string& text) {
    return test::error_of([&] { read_tuning_table(folder.write("t.csv", text)); });
  };
  EXPECT_THAT(told("a,b\n"), HasSubstr("line 1: it has not the columns kernel, tune"));
  EXPECT_THAT(told(header), HasSubstr("it has no row"));
  EXPECT_THAT(told(header + "k,x=1,PASS,1,1,1\n"), HasSubstr("line 2: it has 6 cells, not 7"));
  EXPECT_THAT(told(header + "k,x=1,PASS,1,1,1,1\nk,x,PASS,1,1,1,1\n"),
              HasSubstr("line 3: 'x' is not NAME=VALUE"));
  EXPECT_THAT(told(header + "k,x=9999999999999999999,PASS,1,1,1,1\n"), HasSubstr("is no whole number"));
  EXPECT_THAT(told(header + "k,x=1,FINE,1,1,1,1\n"), HasSubstr("'FINE' is not a status"));
  EXPECT_THAT(told(header + "k,x=1,PASS,-1,1,1,1\n"), HasSubstr("'-1' is no number above 0"));
  EXPECT_THAT(told(header + "k,x=1,PASS,inf,1,1,1\n"), HasSubstr("is no number above 0"));
  EXPECT_THAT(test::error_of([&] { read_tuning_table(folder / "none.csv"); }), HasSubstr("no regular file"));
}

}  // namespace
}  // namespace assay::app
