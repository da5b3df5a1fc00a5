#pragma once

#include "harness/tensor/tensor.h"

#include <span>
#include <string>

namespace assay {

/// Hash of dtype, shape and logical values: padding is excluded, so all forms of a tensor hash equal.
std::string hash_of(const HostTensor& tensor);
/// One hash for several tensors, in order.
std::string hash_of(std::span<const HostTensor> tensors);

/// The same for answers of devices: what a right answer may differ in counts as equal. All NaNs are one, and
/// a float32 below 2^-126, which devices may flush, is a zero of its sign.
std::string answer_hash_of(std::span<const HostTensor> tensors);

}  // namespace assay
