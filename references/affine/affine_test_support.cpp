#include "references/affine/affine_test_support.h"

#include <string>
#include <utility>

namespace assay::test {

Params affine_params(const Shape& shape, const std::vector<std::int64_t>& block_size) {
  Params params;
  params.set("shape", shape);
  params.set("block_size", block_size);
  params.set("dtype", std::string("f32"));
  params.set("quantized", std::string("i8"));
  params.set("quant_min", std::int64_t{-128});
  params.set("quant_max", std::int64_t{127});
  params.set("zero_point_domain", std::string("int"));
  return params;
}

Params params_of(const Golden& golden, DType real, DType quantized) {
  Params params = affine_params(golden.params.at("shape"), golden.params.at("block_size"));
  params.set("dtype", std::string(name_of(real)));
  params.set("quantized", std::string(name_of(quantized)));
  params.set("quant_min", golden.params.at("quant_min").get<std::int64_t>());
  params.set("quant_max", golden.params.at("quant_max").get<std::int64_t>());
  params.set("zero_point_domain", golden.params.value("zero_point_domain", std::string("int")));
  return params;
}

namespace {

using namespace test;

std::int64_t pick(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

template <class T>
const T& one_of(std::mt19937& random, const std::vector<T>& values) {
  return values[static_cast<std::size_t>(pick(random, 0, static_cast<std::int64_t>(values.size()) - 1))];
}

struct Width {
  std::string quantized;
  std::int64_t min, max;
};

}  // namespace

Params random_affine_params(std::mt19937& random) {
  Shape shape;
  std::vector<std::int64_t> block;
  const std::int64_t rank = pick(random, 1, 4);
  for (std::int64_t dim = 0; dim < rank; ++dim) {
    shape.push_back(pick(random, 1, 9));
    block.push_back(pick(random, 0, 3) == 0 ? -1 : pick(random, 1, shape.back()));
  }
  Params params = affine_params(shape, block);
  const Width width = one_of<Width>(
      random, {{"i8", -8, 7}, {"i8", -127, 127}, {"u8", 0, 15}, {"u8", 0, 255}, {"i32", -32768, 32767}});
  params.set("quantized", width.quantized);
  params.set("quant_min", width.min);
  params.set("quant_max", width.max);
  params.set("dtype", one_of<std::string>(random, {"f32", "f16"}));
  params.set("zero_point_domain", one_of<std::string>(random, {"int", "none", "float"}));
  return params;
}

std::int64_t plain_block_of(const references::Affine& affine, std::int64_t index) {
  const std::vector<std::int64_t> at = coordinates(affine.grid.shape, index);
  std::int64_t block = 0;
  for (std::size_t dim = 0; dim < at.size(); ++dim) {
    block = block * affine.grid.counts[dim] + at[dim] / affine.grid.block[dim];
  }
  return block;
}

std::vector<HostTensor> random_scale_and_zero_point(const Params& params, std::mt19937& random) {
  const references::Affine checked = references::affine(params);
  std::vector<HostTensor> tensors{HostTensor(DType::F32, checked.grid.counts)};
  std::uniform_real_distribution<float> scale(0x1p-8f, 0x1p-2f);
  for (float& value : tensors[0].as<float>()) value = scale(random);
  if (checked.domain == references::ZeroPointDomain::Int) {
    tensors.emplace_back(DType::I32, checked.grid.counts);
    for (std::int32_t& value : tensors[1].as<std::int32_t>()) {
      value = static_cast<std::int32_t>(pick(random, checked.quant_min, checked.quant_max));
    }
  } else if (checked.domain == references::ZeroPointDomain::Float) {
    tensors.emplace_back(DType::F32, checked.grid.counts);
    std::uniform_real_distribution<float> zero_point(-2.0f, 2.0f);
    for (float& value : tensors[1].as<float>()) value = zero_point(random);
  }
  return tensors;
}

}  // namespace assay::test
