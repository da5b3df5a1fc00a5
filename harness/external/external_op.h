#pragma once

#include "harness/external/manifest/manifest.h"
#include "harness/op/op.h"

namespace assay::external {

/// The op that a manifest declares. Its programs call kernels as they are (ExternalCall), and its reference
/// runs in a process of its own.
Op op_of(Manifest manifest);

}  // namespace assay::external
