#pragma once

#include "harness/op/expected.h"
#include "harness/tensor/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

// Tensors and expectations in a line.

namespace assay::test {

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

}  // namespace assay::test
