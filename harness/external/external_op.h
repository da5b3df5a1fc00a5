#pragma once

#include "harness/external/manifest/manifest.h"
#include "harness/op/op.h"

namespace assay::external {

/// The op that a manifest declares. Its programs call kernels as they are (ExternalCall). Its reference runs
/// in a process of its own, or is that of an op of `registry`. Throws Error with the place in the manifest if
/// there is no such op.
Op op_of(Manifest manifest, const Registry& registry);

}  // namespace assay::external
