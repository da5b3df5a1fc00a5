#include "references/golden_test.h"

#include "harness/tensor/npy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace assay::references {

HostTensor Golden::tensor(std::string_view tensor_name) const {
  return read_npy(folder / (std::string(tensor_name) + ".npy"));
}

bool Golden::has(std::string_view tensor_name) const {
  return std::filesystem::exists(folder / (std::string(tensor_name) + ".npy"));
}

std::vector<Golden> golden_vectors(std::string_view op) {
  std::vector<Golden> vectors;
  const std::filesystem::path folder = std::filesystem::path(ASSAY_SOURCE_DIR) / "references/golden" / op;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path() / "manifest.json");
    const nlohmann::json manifest = nlohmann::json::parse(file);
    vectors.push_back({manifest.at("name"), manifest.at("params"), entry.path()});
  }
  std::sort(vectors.begin(), vectors.end(), [](const Golden& a, const Golden& b) { return a.name < b.name; });
  return vectors;
}

namespace {

bool near_tie(double pre) {
  return std::fabs(pre - std::floor(pre) - 0.5) < 1e-5;
}

TEST(GoldenComparison, AcceptsOffByOneOnlyNextToATie) {
  HostTensor got(DType::I8, {3});
  HostTensor want(DType::I8, {3});
  HostTensor pre(DType::F64, {3});
  got.as<std::int8_t>()[0] = 1;  // next to a tie: a flip
  pre.as<double>()[0] = 0.500004;
  got.as<std::int8_t>()[1] = 1;  // not next to one
  pre.as<double>()[1] = 0.49;
  got.as<std::int8_t>()[2] = 2;  // next to one, but off by two
  pre.as<double>()[2] = 0.5;
  const GoldenMatch match = compare(got, want, &pre);
  EXPECT_EQ(match.flips, 1);
  EXPECT_EQ(match.mismatches, 2);
  EXPECT_EQ(compare(got, want, nullptr).mismatches, 3);
}

}  // namespace

GoldenMatch compare(const HostTensor& got, const HostTensor& want, const HostTensor* pre) {
  EXPECT_EQ(got.dtype(), want.dtype());
  EXPECT_EQ(got.shape(), want.shape());
  GoldenMatch match;
  for (std::int64_t i = 0; i < want.numel(); ++i) {
    const double difference = std::fabs(got.at(i) - want.at(i));
    if (difference == 0) continue;
    const bool flip = pre != nullptr && difference == 1 && near_tie(pre->at(i));
    ++(flip ? match.flips : match.mismatches);
  }
  return match;
}

}  // namespace assay::references
