#include "references/convolution/conv1d.h"

#include "references/golden/golden_test_support.h"
#include "references/transformer/golden_reals_test_support.h"
#include "tests/support/error_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace assay::references::conv1d_test {
namespace {

using namespace test;
using testing::ElementsAre;

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Sizes {
  std::int64_t n = 1, c = 1, l = 1, oc = 0;  ///< oc 0: depthwise
  std::int64_t kernel = 1, stride = 1, dilation = 1;
  std::vector<std::int64_t> padding{0};
};

Params params_of(const Sizes& sizes, const std::string& dtype = "f32") {
  Params params;
  params.set("N", sizes.n);
  params.set("C", sizes.c);
  params.set("L", sizes.l);
  if (sizes.oc > 0) params.set("OC", sizes.oc);
  params.set("kernel", sizes.kernel);
  params.set("stride", sizes.stride);
  params.set("dilation", sizes.dilation);
  params.set("padding", sizes.padding);
  params.set("bias", false);
  params.set("dtype", dtype);
  return params;
}

Expected answer(const Params& params, const std::vector<double>& x, const std::vector<double>& w) {
  const Conv1d conv = conv1d_params(params);
  const std::vector<HostTensor> inputs{real_tensor(conv.dtype, conv.x_shape(), x),
                                       real_tensor(conv.dtype, conv.w_shape(), w)};
  return conv1d(params, inputs)[0];
}

std::vector<double> values(const Sizes& sizes, const std::vector<double>& x, const std::vector<double>& w) {
  const Expected y = answer(params_of(sizes), x, w);
  const std::span<const double> all = y.values.as<double>();
  return {all.begin(), all.end()};
}

/// The manifests give one number for padding, and OC and groups to depthwise ones, too.
void expect_golden(const std::string& op) {
  const std::vector<Golden> vectors = golden_vectors(op);
  ASSERT_EQ(vectors.size(), 4);
  for (const Golden& golden : vectors) {
    const nlohmann::json& given = golden.params;
    Sizes sizes{given.at("N"), given.at("C"), given.at("L")};
    if (op == "conv1d_pw") sizes.oc = given.at("OC");
    sizes.kernel = given.at("kernel");
    sizes.stride = given.at("stride");
    sizes.dilation = given.at("dilation");
    sizes.padding = {given.at("padding").get<std::int64_t>()};
    Params params = params_of(sizes, given.at("dtype").get<std::string>());
    params.set("bias", true);
    const std::vector<HostTensor> inputs{golden.tensor("x"), golden.tensor("w"), golden.tensor("bias")};
    const Expected y = conv1d(params, inputs)[0];
    const HostTensor want = golden.tensor("y");
    ASSERT_EQ(y.values.shape(), want.shape()) << golden.name;
    for (std::int64_t i = 0; i < want.numel(); ++i) {
      EXPECT_NEAR(y.values.as<double>()[i], want.at(i), 1e-12 * static_cast<double>(y.magnitude[i]))
          << golden.name << " at " << i;
    }
  }
}

TEST(Conv1d, GivesTheGoldenVectors) {
  expect_golden("conv1d_pw");
  expect_golden("conv1d_dw");
}

TEST(Conv1d, APointwiseOneSumsTheChannelsOfASequence) {
  EXPECT_THAT(
      values({.n = 2, .c = 2, .l = 3, .oc = 2}, {1, 2, 3, 10, 20, 30, 4, 5, 6, 40, 50, 60}, {1, 1, 2, -1}),
      ElementsAre(11, 22, 33, -8, -16, -24, 44, 55, 66, -32, -40, -48));
}

TEST(Conv1d, ADepthwiseOneHasItsOwnTapsForEachChannel) {
  EXPECT_THAT(values({.c = 2, .l = 4, .kernel = 3, .padding = {1}}, {1, 2, 3, 4, 10, 20, 30, 40},
                     {1, 0, -1, 0, 2, 1}),
              ElementsAre(-2, -2, -2, 3, 40, 70, 100, 80));
}

TEST(Conv1d, PaddingMayDifferBetweenTheSides) {
  const std::vector<double> x{1, 2, 3, 4}, w{1, 10};
  EXPECT_THAT(values({.l = 4, .kernel = 2, .padding = {2, 0}}, x, w), ElementsAre(0, 10, 21, 32, 43));
  EXPECT_THAT(values({.l = 4, .kernel = 2, .padding = {0, 1}}, x, w), ElementsAre(21, 32, 43, 4));
  EXPECT_THAT(values({.l = 4, .kernel = 2, .padding = {1}}, x, w), ElementsAre(10, 21, 32, 43, 4));
}

TEST(Conv1d, StridesAndDilationsSkipValues) {
  EXPECT_THAT(values({.l = 7, .kernel = 2, .stride = 2, .dilation = 3, .padding = {1, 1}},
                     {1, 2, 3, 4, 5, 6, 7}, {1, 10}),
              ElementsAre(30, 52, 74));
}

TEST(Conv1d, APlaceOutsideOfXAddsNothing) {
  const Expected y = answer(params_of({.l = 3, .kernel = 2, .padding = {1, 0}}), {1, -2, 3}, {infinity, 1});
  EXPECT_THAT(y.values.as<double>(), ElementsAre(1, infinity, -infinity));
}

TEST(Conv1d, TheMagnitudeHasNoCancellation) {
  Params params = params_of({.c = 2, .l = 1, .oc = 1});
  params.set("bias", true);
  const std::vector<HostTensor> inputs{real_tensor(DType::F32, {1, 2, 1}, {3, 4}),
                                       real_tensor(DType::F32, {1, 2, 1}, {2, -1}),
                                       real_tensor(DType::F32, {1}, {-5})};
  const Expected y = conv1d(params, inputs)[0];
  EXPECT_EQ(y.values.as<double>()[0], -3);
  EXPECT_NEAR(y.magnitude[0], 15, 1e-3);
}

TEST(Conv1d, AnEmptyYIsRefused) {
  const auto refusal = [](const Sizes& sizes) { return error_of([&] { conv1d_params(params_of(sizes)); }); };
  EXPECT_EQ(refusal({.l = 4, .kernel = 3, .dilation = 3, .padding = {1, 1}}),
            "y would be empty: 3 taps, 3 apart, do not fit x of 4 with a padding of 1 before and 1 after x");
  EXPECT_EQ(refusal({.l = 4, .kernel = 3, .dilation = 3, .padding = {1, 2}}), "");
}

}  // namespace
}  // namespace assay::references::conv1d_test
