#pragma once

#include "harness/op/program.h"
#include "ops/linear/coopmat_tiling.h"

#include <cstdint>

// What dispatches of all kernels of cooperative matrices have in common.

namespace assay::ops {

/// Gives `product` the #defines MATRICES and FRAGMENT_M, _N and _K. `plain`: no cooperative matrices.
void add_fragment(Dispatch& product, const Fragment& fragment, bool plain);
/// Gives `product` its grid of `workgroups`, each of this many invocations and bytes of shared memory, and
/// demands the size of subgroups unless its code is `plain`.
void set_workgroups(Dispatch& product, std::int64_t workgroups, std::int64_t invocations,
                    std::int64_t shared_bytes, bool plain, const DeviceInfo& device);

}  // namespace assay::ops
