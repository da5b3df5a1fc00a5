#include "references/matmul/matmul.h"

#include "harness/base/error.h"
#include "references/transformer/golden_reals_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <variant>

namespace assay::references {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Params mm_of(std::int64_t m, std::int64_t k, std::int64_t n, const std::string& dtype = "f32") {
  Params params;
  params.set("M", m);
  params.set("K", k);
  params.set("N", n);
  params.set("dtype", dtype);
  return params;
}

Params addmm_of(double alpha, double beta, const std::string& c) {
  Params params = mm_of(2, 3, 2);
  params.set("alpha", alpha);
  params.set("beta", beta);
  params.set("c", c);
  return params;
}

const std::vector<double> a{1, 2, 3, -4, 5, 6}, b{1, -1, 2, 0, 0, 3};

Expected addmm(double alpha, double beta, const std::string& of_c, const Shape& shape,
               const std::vector<double>& c) {
  const std::vector<HostTensor> inputs{real_tensor(DType::F32, {2, 3}, a), real_tensor(DType::F32, {3, 2}, b),
                                       real_tensor(DType::F32, shape, c)};
  return matmul(addmm_of(alpha, beta, of_c), inputs)[0];
}

/// The manifests' factors may be integers.
std::vector<Expected> of_golden(Params params, std::span<const HostTensor> inputs) {
  for (const std::string name : {"alpha", "beta"}) {
    const auto* whole = std::get_if<std::int64_t>(&params.at(name));
    if (whole != nullptr) params.set(name, static_cast<double>(*whole));
  }
  return matmul(params, inputs);
}

TEST(Matmul, GivesTheGoldenVectors) {
  Params defaults;
  defaults.set("c", std::string("matrix"));  // a vector's c has its own shape
  expect_golden_reals("addmm", 10, {"a", "b", "c"}, {"y"}, defaults, of_golden);
  expect_golden_reals("bmm", 2, {"a", "b"}, {"y"}, {}, matmul);
}

TEST(Matmul, SumsProductsAndTheirMagnitudes) {
  const std::vector<HostTensor> inputs{real_tensor(DType::F32, {2, 3}, a),
                                       real_tensor(DType::F32, {3, 2}, b)};
  const Expected y = matmul(mm_of(2, 3, 2), inputs)[0];
  EXPECT_THAT(y.values.as<double>(), ElementsAre(5, 8, 6, 22));
  ASSERT_EQ(y.magnitude.size(), 4);
  EXPECT_NEAR(y.magnitude[2], 4 + 10, 1e-3);
  EXPECT_NEAR(y.magnitude[3], 4 + 18, 1e-3);
  EXPECT_TRUE(y.bound.empty()) << "stores of f32 round nothing";
}

TEST(Matmul, EachMatrixOfABatchHasItsOwnFactors) {
  Params params = mm_of(1, 2, 1, "f16");
  params.set("B", std::int64_t{2});
  const std::vector<HostTensor> inputs{real_tensor(DType::F16, {2, 1, 2}, {1, 2, 3, 4}),
                                       real_tensor(DType::F16, {2, 2, 1}, {10, 20, 30, 40})};
  const Expected y = matmul(params, inputs)[0];
  EXPECT_EQ(y.values.shape(), (Shape{2, 1, 1}));
  EXPECT_THAT(y.values.as<double>(), ElementsAre(50, 250));
  EXPECT_THAT(y.bound, ElementsAre(0x1p-5F, 0x1p-3F)) << "stores of f16 may be off by a unit";
}

TEST(Matmul, AddsAMatrixOrARowTimesBeta) {
  const Expected matrix = addmm(2, 0.5, "matrix", {2, 2}, {2, 4, 6, -8});
  EXPECT_THAT(matrix.values.as<double>(), ElementsAre(11, 18, 15, 40));
  EXPECT_NEAR(matrix.magnitude[3], 2 * 22 + 4, 1e-2);
  const Expected row = addmm(1, -1, "row", {2}, {100, 200});
  EXPECT_THAT(row.values.as<double>(), ElementsAre(-95, -192, -94, -178));
}

TEST(Matmul, CIsNotReadWhereBetaIsZero) {
  EXPECT_THAT(addmm(1, 0, "matrix", {2, 2}, {nan, infinity, nan, nan}).values.as<double>(),
              ElementsAre(5, 8, 6, 22));
  EXPECT_TRUE(std::isnan(addmm(1, 1, "matrix", {2, 2}, {1, 1, nan, 1}).values.as<double>()[2]));
}

std::string refusal(double alpha, double beta) {
  try {
    matmul_params(addmm_of(alpha, beta, "row"));
  } catch (const ParameterError& error) {
    return error.parameter() + ": " + error.what();
  }
  return "accepted";
}

TEST(Matmul, RefusesFactorsThatFloatsMayLose) {
  EXPECT_THAT(refusal(1e-7, 1),
              HasSubstr("alpha: alpha is 1e-07, but must be 0 or have a magnitude from 1e-06"));
  EXPECT_THAT(refusal(1, -2e6), HasSubstr("beta: beta is -2000000"));
  EXPECT_EQ(refusal(0, -1e6), "accepted");
}

}  // namespace
}  // namespace assay::references
