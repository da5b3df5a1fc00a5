#pragma once

#include "harness/op/op.h"
#include "ops/convolution/tensors.h"

#include <string>
#include <vector>

namespace assay::ops {

/// A convolution of int8 x and y with one scale each, and int8 weights with one scale per output channel.
Op integer_convolution(std::string name, std::string summary, ConvolutionKind kind, Layout default_layout,
                       std::vector<Impl> impls);

}  // namespace assay::ops
