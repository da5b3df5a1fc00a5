#pragma once

#include "harness/tensor/tensor.h"

#include <span>
#include <string>

namespace assay {

/// Returns a hash of dtype, shape and logical values. Padding is excluded, so all forms of a tensor hash
/// equal.
std::string hash_of(const HostTensor& tensor);
/// Returns one hash for several tensors, in order.
std::string hash_of(std::span<const HostTensor> tensors);

/// Returns one hash for answers of devices, with permitted differences ignored: all NaNs are equal, and a
/// float32 below 2^-126, which devices may flush, equals a zero of its sign.
std::string answer_hash_of(std::span<const HostTensor> tensors);

}  // namespace assay
