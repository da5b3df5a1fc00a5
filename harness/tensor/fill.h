#pragma once

#include "harness/tensor/fill_spec.h"
#include "harness/tensor/tensor.h"

namespace assay {

/// A filled tensor. `Npy` is not handled here (the case loader reads the file): std::logic_error.
HostTensor make_filled(DType dtype, const Shape& shape, const FillSpec& fill, const FillDomain& domain,
                       const DataKey& key);

}  // namespace assay
