#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"
#include "references/golden/golden_test_support.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace assay::test {

// Parameters, tensors from lists and random inputs, for the tests of linear ops.

/// Parameters of a linear op with these extents: f32, no bias, no activation, no batch, epilogue float32,
/// activations given. `group_size` 0: the op has none.
Params linear_case(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t group_size = 0);

/// Parameters of a golden vector: bias where it has one, x and y where it has scales for them.
Params linear_case(const Golden& golden);

HostTensor floats(const Shape& shape, const std::vector<float>& values);
HostTensor halves(const Shape& shape, const std::vector<float>& values);
HostTensor int8s(const Shape& shape, const std::vector<int>& values);
HostTensor int32s(const Shape& shape, const std::vector<int>& values);
HostTensor uint8s(const Shape& shape, const std::vector<int>& values);

/// The tensor w (u8) with rows of values -8..7. `even_is_high`: the nibble of an even k is the high one, else
/// the low one.
HostTensor int4s(const Shape& shape, const std::vector<int>& values, bool even_is_high);

/// Random values of the dtype: any integers, or normal numbers for floats. Scales lie between 2^-8 and 2^-2.
HostTensor random_tensor(DType dtype, const Shape& shape, std::mt19937& random);
HostTensor random_scales(const Shape& shape, std::mt19937& random);
HostTensor random_zero_points(const Shape& shape, std::int32_t lowest, std::int32_t highest,
                              std::mt19937& random);

/// Those of the vector's inputs that have one of these names; x_zero_point as i32.
std::vector<HostTensor> golden_inputs(const Golden& golden, const std::vector<std::string>& names);

/// Whether float64 values equal a vector's to within `units` * 2^-24 of the magnitude (of the values
/// themselves where there is none); a failure names the first that does not.
testing::AssertionResult near(const HostTensor& got, const HostTensor& want,
                              const std::vector<float>& magnitude, double units);

/// The int8 that a sum becomes with the parameters x, y, activation and epilogue: the steps one after the
/// other, as the headers of references state them. float32 steps are float32, those of the fixed point long
/// double.
double plain_int8(const Params& params, std::int64_t sum, float w_scale, std::optional<float> bias);

}  // namespace assay::test
