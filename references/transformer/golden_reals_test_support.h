#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace assay::test {

using Reference = std::function<std::vector<Expected>(const Params&, std::span<const HostTensor>)>;

/// Compares a reference of a float op with the golden vectors of `op`, whose parameters have the names of the
/// op's: each value may differ by 1e-12 of itself and of its magnitude. Inputs that a vector does not have
/// are left out, and so are outputs.
void expect_golden_reals(const std::string& op, std::size_t vectors, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs, const Params& defaults,
                         const Reference& reference);

/// A tensor of these values, rounded to the dtype.
HostTensor real_tensor(DType dtype, const Shape& shape, const std::vector<double>& values);

}  // namespace assay::test
