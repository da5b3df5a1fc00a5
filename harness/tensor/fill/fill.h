#pragma once

#include "harness/tensor/fill/fill_spec.h"
#include "harness/tensor/tensor.h"

namespace assay {

/// Returns a filled tensor. Throws std::logic_error for `Npy`, whose files the case loader reads.
HostTensor make_filled(DType dtype, const Shape& shape, const FillSpec& fill, const FillDomain& domain,
                       const DataKey& key);

}  // namespace assay
