#include "references/linear/integer_products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <random>
#include <set>
#include <thread>

namespace assay::references {
namespace {

IntegerRows random_rows(std::int64_t rows, std::int64_t depth, std::mt19937& random) {
  IntegerRows made{rows, depth, {}};
  std::uniform_int_distribution<int> value(-255, 255);
  for (std::int64_t i = 0; i < rows * depth; ++i) {
    made.values.push_back(static_cast<std::int16_t>(value(random)));
  }
  return made;
}

/// The sums of every element, [M, N, groups].
std::vector<std::int32_t> sums_of(const IntegerRows& x, const IntegerRows& w, std::int64_t group_size) {
  const std::int64_t groups = x.depth / group_size;
  std::vector<std::int32_t> all(static_cast<std::size_t>(x.rows * w.rows * groups), -1);
  integer_products(x, w, group_size, [&](std::int64_t m, std::int64_t n, std::span<const std::int32_t> sums) {
    EXPECT_EQ(std::ssize(sums), groups);
    std::ranges::copy(sums, all.begin() + (m * w.rows + n) * groups);
  });
  return all;
}

void expect_plain(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t group_size,
                  std::mt19937& random) {
  const IntegerRows x = random_rows(m, k, random), w = random_rows(n, k, random);
  std::vector<std::int32_t> want;
  for (std::int64_t i = 0; i < m * n; ++i) {
    for (std::int64_t first = 0; first < k; first += group_size) {
      std::int64_t sum = 0;
      for (std::int64_t at = first; at < first + group_size; ++at)
        sum += std::int64_t{x.row(i / n)[at]} * w.row(i % n)[at];
      want.push_back(static_cast<std::int32_t>(sum));
    }
  }
  EXPECT_EQ(sums_of(x, w, group_size), want) << m << " " << n << " " << k << " " << group_size;
}

TEST(IntegerProducts, AgreeWithThePlainSumsWhateverTheShape) {
  std::mt19937 random(41);
  expect_plain(1, 1, 1, 1, random);
  expect_plain(1, 37, 68, 68, random);
  expect_plain(33, 1, 7, 7, random);
  expect_plain(17, 35, 192, 96, random);
  expect_plain(5, 16, 256, 8, random);
  expect_plain(40, 33, 96, 32, random);
}

/// The number of threads on which a product of [m, k] with [n, k] was computed.
std::set<std::thread::id> threads_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  std::mt19937 random(42);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  integer_products(random_rows(m, k, random), random_rows(n, k, random), k,
                   [&](std::int64_t, std::int64_t, std::span<const std::int32_t>) {
                     const std::scoped_lock lock(mutex);
                     threads.insert(std::this_thread::get_id());
                   });
  return threads;
}

// A depthwise convolution has one product per channel: starting threads for each took ten times as long as
// the sums.
TEST(IntegerProducts, StartNoThreadsForFewSums) {
  EXPECT_EQ(threads_of(64, 1, 9), std::set{std::this_thread::get_id()});
  EXPECT_EQ(threads_of(128 * 128, 1, 9), std::set{std::this_thread::get_id()});
}

TEST(IntegerProducts, HoldTheLargestSums) {
  const std::int64_t depth = 65535;
  IntegerRows x{1, depth, std::vector<std::int16_t>(depth, -255)};
  IntegerRows w{1, depth, std::vector<std::int16_t>(depth, -128)};
  EXPECT_THAT(sums_of(x, w, depth), testing::ElementsAre(65535 * 255 * 128));
  std::ranges::fill(w.values, std::int16_t{127});
  EXPECT_THAT(sums_of(x, w, depth), testing::ElementsAre(-65535 * 255 * 127));
}

}  // namespace
}  // namespace assay::references
