#include "references/transformer/golden_reals_test_support.h"

#include "references/golden/golden_test_support.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace assay::test {
namespace {

Value value_of(const nlohmann::json& value) {
  if (value.is_array()) return value.get<Shape>();
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return value.get<double>();
}

Params params_of(const Golden& golden, const Params& defaults) {
  Params params = defaults;
  for (const auto& [name, value] : golden.params.items()) params.set(name, value_of(value));
  return params;
}

void expect_close(const Expected& got, const HostTensor& want, const std::string& place) {
  ASSERT_EQ(got.values.shape(), want.shape()) << place;
  for (std::int64_t i = 0; i < want.numel(); ++i) {
    const double value = got.values.at(i), golden = want.at(i);
    if (std::isnan(golden)) {
      ASSERT_TRUE(std::isnan(value)) << place << " element " << i;
      continue;
    }
    const double magnitude =
        got.magnitude.empty() ? 0 : static_cast<double>(got.magnitude[static_cast<std::size_t>(i)]);
    ASSERT_NEAR(value, golden, 1e-12 * (std::fabs(golden) + magnitude)) << place << " element " << i;
  }
}

}  // namespace

void expect_golden_reals(const std::string& op, std::size_t vectors, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs, const Params& defaults,
                         const Reference& reference) {
  const std::vector<Golden> all = golden_vectors(op);
  EXPECT_EQ(all.size(), vectors);
  for (const Golden& golden : all) {
    std::vector<HostTensor> tensors;
    for (const std::string& name : inputs) {
      if (golden.has(name)) tensors.push_back(golden.tensor(name));
    }
    const std::vector<Expected> got = reference(params_of(golden, defaults), tensors);
    std::size_t output = 0;
    for (const std::string& name : outputs) {
      if (!golden.has(name)) continue;
      ASSERT_LT(output, got.size()) << golden.name;
      expect_close(got[output++], golden.tensor(name), fmt::format("{} {} {}", op, golden.name, name));
    }
    EXPECT_EQ(output, got.size()) << golden.name;
  }
}

HostTensor real_tensor(DType dtype, const Shape& shape, const std::vector<double>& values) {
  HostTensor tensor(dtype, shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<float>(values[i]);
    if (dtype == DType::F16) {
      tensor.as<Half>()[i] = to_half(value);
    } else {
      tensor.as<float>()[i] = value;
    }
  }
  return tensor;
}

}  // namespace assay::test
