#include "harness/tensor/shape.h"

#include "harness/base/error.h"

#include <fmt/format.h>

namespace assay {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 40;

}  // namespace

std::int64_t numel(const Shape& shape) {
  std::int64_t product = 1;
  for (const std::int64_t dim : shape) {
    if (dim < 1) {
      throw Error(
          fmt::format("shape {} has a dim of {}; every dim must be at least 1", to_string(shape), dim));
    }
    if (dim > most_elements / product) {
      throw Error(fmt::format("shape {} has more than 2^40 elements", to_string(shape)));
    }
    product *= dim;
  }
  return product;
}

Dims nchw(const Shape& shape) {
  if (shape.size() > 4) {
    throw Error(fmt::format("shape {} has {} dims; at most 4 are possible", to_string(shape), shape.size()));
  }
  std::array<std::int64_t, 4> dims{1, 1, 1, 1};
  const std::size_t missing = 4 - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) dims[missing + i] = shape[i];
  return {dims[0], dims[1], dims[2], dims[3]};
}

std::string to_string(const Shape& shape) {
  std::string text;
  for (const std::int64_t dim : shape) {
    if (!text.empty()) text += 'x';
    text += std::to_string(dim);
  }
  return text;
}

std::vector<std::int64_t> coordinates(const Shape& shape, std::int64_t index) {
  std::vector<std::int64_t> result(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    result[i] = index % shape[i];
    index /= shape[i];
  }
  return result;
}

}  // namespace assay
