#include "references/linear/real_products.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace assay::references {
namespace {

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
