#include "references/linear/products.h"

#include "references/linear/linear_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace assay::references {
namespace {

using namespace test;
using testing::ElementsAre;

constexpr float inf = std::numeric_limits<float>::infinity();

IntegerRows one_scale_rows(const HostTensor& x, QParams qparams) {
  return quantized_rows(x, [=](std::int64_t) { return qparams; });
}

TEST(Int8Rows, AreLessTheirZeroPoint) {
  const HostTensor x = int8s({1, 2, 2}, {-128, 127, 5, 0});
  EXPECT_THAT(int8_rows(x).values, ElementsAre(-128, 127, 5, 0));
  EXPECT_THAT(int8_rows(x, 127).values, ElementsAre(-255, 0, -122, -127));
  EXPECT_THAT(int8_rows(x, -128).values, ElementsAre(0, 255, 133, 128));
  EXPECT_THAT(int8_rows(x, std::vector<std::int32_t>{1, -2}).values, ElementsAre(-129, 126, 7, 2));
}

TEST(QuantizedRows, RoundTiesToEvenAndSaturate) {
  const HostTensor x = floats({1, 6}, {0.25F, 0.75F, -0.25F, -0.75F, 100, -100});
  EXPECT_THAT(one_scale_rows(x, {0.5F, 0}).values, ElementsAre(0, 2, 0, -2, 127, -128));
  EXPECT_THAT(one_scale_rows(x, {0.5F, 3}).values, ElementsAre(0, 2, 0, -2, 124, -131));
}

TEST(QuantizedRows, TakeNaNForZeroAndInfinitiesForTheEnds) {
  const HostTensor x = floats({1, 3}, {std::nanf(""), inf, -inf});
  for (const std::int32_t zero_point : {-128, 0, 127}) {
    EXPECT_THAT(one_scale_rows(x, {0.5F, zero_point}).values,
                ElementsAre(0, 127 - zero_point, -128 - zero_point));
  }
}

TEST(QuantizedRows, MultiplyByTheReciprocal) {
  const float scale = 0.3F, inverse = 1.0F / scale;
  int differing = 0;
  for (int i = 1; i < 254; ++i) {
    const float x = static_cast<float>(i) * 0.5F * scale;  // next to ties
    const auto by_product = static_cast<int>(std::nearbyint(x * inverse));
    differing += by_product != static_cast<int>(std::nearbyint(x / scale)) ? 1 : 0;
    ASSERT_EQ(one_scale_rows(floats({1, 1}, {x}), {scale, 0}).values[0], by_product) << x;
  }
  EXPECT_GT(differing, 0);
}

TEST(QuantizedRows, HaveScalesOfTheirOwnAndReadHalves) {
  const HostTensor x = halves({2, 1, 2}, {1, 2, 1, 2});
  const std::vector<QParams> qparams{{1, 0}, {0.25F, 120}};
  const IntegerRows rows =
      quantized_rows(x, [&](std::int64_t row) { return qparams[static_cast<std::size_t>(row)]; });
  EXPECT_EQ(rows.rows, 2);
  EXPECT_THAT(rows.values, ElementsAre(1, 2, 4, 7));
}

TEST(Int4Rows, TakeTheNibbleOfAnEvenKFromTheHalfThatIsSaid) {
  const HostTensor w = uint8s({2, 2}, {0xF0, 0x9A, 0x08, 0x78});
  EXPECT_THAT(int4_rows(w, EvenNibble::High).values, ElementsAre(7, -8, 1, 2, -8, 0, -1, 0));
  EXPECT_THAT(int4_rows(w, EvenNibble::Low).values, ElementsAre(-8, 7, 2, 1, 0, -8, 0, -1));
}

TEST(Int4Rows, AreLessTheZeroPointOfTheirGroup) {
  const HostTensor w = int4s({2, 4}, {0, 1, 2, 3, -8, 7, -8, 7}, true);
  const HostTensor zero_points = int32s({2, 2}, {1, 7, -8, -8});  // [group, n]
  EXPECT_THAT(int4_rows(w, EvenNibble::High, zero_points).values, ElementsAre(-1, 0, 10, 11, -15, 0, 0, 15));
}

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
  for (const std::int64_t depth : {8, 16, 24, 32, 40, 256}) expect_plain(5, 16, depth, 8, random);
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
  EXPECT_EQ(threads_of(16384, 1, 9), std::set{std::this_thread::get_id()});
}

TEST(IntegerProducts, HoldTheLargestSums) {
  const std::int64_t depth = 65535;
  IntegerRows x{1, depth, std::vector<std::int16_t>(depth, -255)};
  IntegerRows w{1, depth, std::vector<std::int16_t>(depth, -128)};
  EXPECT_THAT(sums_of(x, w, depth), testing::ElementsAre(65535 * 255 * 128));
  std::ranges::fill(w.values, std::int16_t{127});
  EXPECT_THAT(sums_of(x, w, depth), testing::ElementsAre(-65535 * 255 * 127));
}

/// A matrix with a reader.
struct Matrix {
  std::int64_t rows, depth;
  std::vector<float> values;

  float at(std::int64_t row, std::int64_t k) const {
    return values[static_cast<std::size_t>(row * depth + k)];
  }
  RealRows reader() const {
    return {rows, depth, [this](std::int64_t row, std::int64_t first, std::int64_t last, double* to) {
              for (std::int64_t k = first; k < last; ++k) *to++ = static_cast<double>(at(row, k));
            }};
  }
};

struct Product {
  double sum = std::nan(""), magnitude = std::nan("");
};

Matrix random_matrix(std::int64_t rows, std::int64_t depth, std::mt19937& random) {
  Matrix made{rows, depth, {}};
  std::normal_distribution<float> value;
  for (std::int64_t i = 0; i < rows * depth; ++i) made.values.push_back(value(random));
  return made;
}

std::vector<Product> products_of(const Matrix& x, const Matrix& w) {
  std::vector<Product> products(static_cast<std::size_t>(x.rows * w.rows));
  real_products(x.reader(), w.reader(), [&](std::int64_t m, std::int64_t n, double sum, double magnitude) {
    products[static_cast<std::size_t>(m * w.rows + n)] = {sum, magnitude};
  });
  return products;
}

void expect_plain(std::int64_t m, std::int64_t n, std::int64_t k, std::mt19937& random) {
  const Matrix x = random_matrix(m, k, random), w = random_matrix(n, k, random);
  const std::vector<Product> got = products_of(x, w);
  for (std::int64_t i = 0; i < m * n; ++i) {
    long double sum = 0, magnitude = 0;
    for (std::int64_t at = 0; at < k; ++at) {
      const long double product = static_cast<long double>(x.at(i / n, at)) * w.at(i % n, at);
      sum += product;
      magnitude += std::fabs(product);
    }
    const Product& of = got[static_cast<std::size_t>(i)];
    ASSERT_LE(std::fabs(of.sum - sum), magnitude * static_cast<long double>(k) * 0x1p-53L)
        << m << " " << n << " " << k << " element " << i;
    ASSERT_GE(of.magnitude, magnitude) << m << " " << n << " " << k << " element " << i;
    ASSERT_LE(of.magnitude, magnitude * (1 + 0x1p-15L)) << m << " " << n << " " << k << " element " << i;
  }
}

TEST(RealProducts, AgreeWithThePlainSumsWhateverTheShape) {
  std::mt19937 random(41);
  expect_plain(1, 1, 1, random);
  expect_plain(4, 2, 256, random);
  expect_plain(1, 129, 260, random);
  expect_plain(33, 65, 127, random);
  expect_plain(5, 3, 1027, random);
  expect_plain(67, 2, 257, random);
  expect_plain(6, 70, 3, random);
}

TEST(RealProducts, AreTheSameWhateverStandsBesideAnElement) {
  std::mt19937 random(42);
  const Matrix x = random_matrix(70, 300, random), w = random_matrix(66, 300, random);
  const std::vector<Product> all = products_of(x, w);
  const auto row_of = [](const Matrix& from, std::int64_t row) {
    const auto first = from.values.begin() + row * from.depth;
    return Matrix{1, from.depth, {first, first + from.depth}};
  };
  for (const std::int64_t m : {0, 3, 63, 64, 69}) {
    for (const std::int64_t n : {0, 1, 63, 65}) {
      const std::vector<Product> alone = products_of(row_of(x, m), row_of(w, n));
      ASSERT_EQ(alone.at(0).sum, all[static_cast<std::size_t>(m * 66 + n)].sum) << m << " " << n;
    }
  }
}

TEST(RealProducts, NaNAndInfinitiesStayInTheirRow) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const Matrix x{4, 2, {1, 2, infinity, 1, std::nanf(""), 1, infinity, -infinity}}, w{2, 2, {1, 1, 0, 1}};
  const std::vector<Product> products = products_of(x, w);
  EXPECT_EQ(products[0].sum, 3);
  EXPECT_EQ(products[2].sum, static_cast<double>(infinity));
  EXPECT_TRUE(std::isnan(products[3].sum));  // infinity times 0
  EXPECT_TRUE(std::isnan(products[4].sum));
  EXPECT_TRUE(std::isnan(products[6].sum));  // infinity less infinity
}

TEST(RealProducts, StartNoThreadsForFewSums) {
  std::mt19937 random(43);
  const Matrix x = random_matrix(200, 9, random), w = random_matrix(1, 9, random);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  real_products(x.reader(), w.reader(), [&](std::int64_t, std::int64_t, double, double) {
    const std::scoped_lock lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

}  // namespace

}  // namespace assay::references
