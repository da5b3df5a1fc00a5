#pragma once

#include "harness/cases/case.h"
#include "harness/op/expected.h"
#include "harness/op/op.h"
#include "harness/tensor/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

// What the tests of this module share: tensors and expectations in a line, a fake op, a folder of one's own.

namespace assay::testing {

template <class T>
HostTensor tensor(const Shape& shape, const std::vector<T>& values) {
  HostTensor made(DTypeOf<T>::value, shape);
  EXPECT_EQ(static_cast<std::size_t>(made.numel()), values.size());
  std::copy(values.begin(), values.end(), made.as<T>().begin());
  return made;
}

/// A tensor of rank 1.
template <class T>
HostTensor row(const std::vector<T>& values) {
  return tensor<T>({static_cast<std::int64_t>(values.size())}, values);
}

inline Expected exact(HostTensor values) {
  return {.values = std::move(values)};
}

inline Expected banded(HostTensor values, std::vector<std::int8_t> band, double expected_flips) {
  return {.values = std::move(values),
          .output_class = OutputClass::Banded,
          .band = std::move(band),
          .expected_flips = expected_flips};
}

inline Expected bounded(HostTensor values, std::vector<float> bound) {
  return {.values = std::move(values), .output_class = OutputClass::Bounded, .bound = std::move(bound)};
}

/// y = x with every bit turned, on i8: an op small enough to be reasoned about by hand.
inline Op flip_op() {
  Op op;
  op.name = "flip";
  op.params = {shape("shape")};
  op.tensors = [](const Params& params) {
    const Form form{Storage::Buffer, Layout::WP};
    const Shape& dims = params.ints("shape");
    TensorSpec x{.name = "x", .dtype = DType::I8, .shape = dims, .forms = {form}};
    x.domain = {.role = FillRole::Data, .lo = -128, .hi = 127};
    TensorSpec y{.name = "y", .role = TensorSpec::Role::Output, .dtype = DType::I8, .shape = dims};
    y.forms = {form};
    return std::vector<TensorSpec>{x, y};
  };
  op.reference = [](const Params&, std::span<const HostTensor> inputs) {
    HostTensor y = inputs[0];
    for (std::int8_t& value : y.as<std::int8_t>()) value = static_cast<std::int8_t>(~value);
    return std::vector<Expected>{exact(y)};
  };
  op.work = [](const Params&, std::span<const TensorSpec> tensors) { return streaming_work(tensors); };
  op.impls.push_back({.name = "plain"});
  return op;
}

/// A case of `op` in its default forms, every input filled at random.
inline Case make_case(const Op& op, Params params, const std::string& point = "point") {
  Case test_case;
  test_case.op = &op;
  test_case.impl = &op.impls.front();
  test_case.name = point;
  test_case.id = op.name + "/" + point + "/" + test_case.impl->name;
  test_case.params = std::move(params);
  test_case.tensors = op.tensors(test_case.params);
  for (const TensorSpec& spec : test_case.tensors) {
    test_case.forms.push_back(spec.forms.front());
    if (spec.is_input()) test_case.fills[spec.name] = {.kind = FillKind::Uniform};
  }
  test_case.where = {"cases/" + op.name + ".yaml", 7, 5};
  return test_case;
}

inline Params shape_params(const Shape& dims) {
  Params params;
  params.set("shape", dims);
  return params;
}

/// A folder that goes when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("assay_engine_test_" + std::to_string(std::random_device{}()))) {
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace assay::testing
